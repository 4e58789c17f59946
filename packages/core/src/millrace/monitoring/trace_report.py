"""Traces of messages, on their way from the tasks that read them to whoever follows a session's queries.

A task sends them to the driver with the report of its split, and the driver sends them on at once, so that they are
there when Spark reports the micro-batch.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.session_receivers import parse_receivers, receivers_text
from millrace.worker import WorkerResources

SETTING = "spark.millrace.traces.secret"
"""The setting of a session with its followers. Spark shows no value of a setting whose name has ``secret`` in it."""


class TraceFollower(NamedTuple):
    """Somebody who wants to know the traces of messages.

    Attributes:
        receiver: The address to send them to.
        max_links: The number of a micro-batch's messages, at most.
    """

    receiver: ReceiverAddress
    max_links: int

    def __str__(self) -> str:
        return f"{self.max_links}@{receivers_text([self.receiver])}"


@dataclass(frozen=True)
class TraceReport:
    """The traces of messages of a micro-batch.

    Attributes:
        run: The run of the streaming query that read them.
        batch: The micro-batch.
        traceparents: The values of their headers.
        followers: Those who want to know them, as the session's setting has them.
    """

    is_answered: ClassVar[bool] = True
    UNREACHABLE: ClassVar[str] = (
        "nobody answers at {host}:{port}, so that spans of micro-batches lack links to messages from now on: {failure}"
    )

    run: str
    batch: int
    traceparents: tuple[str, ...]
    followers: str = ""

    def to_bytes(self) -> bytes:
        """Return the report as it is sent."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, sent: bytes) -> TraceReport:
        """Parse a report.

        Raises:
            ValueError: The bytes are no report.
        """
        return cls.from_json(json.loads(sent))

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TraceReport:
        """Return the report of its fields.

        Raises:
            ValueError: They are none.
        """
        try:
            report = cls(**fields)
            return cls(report.run, report.batch, tuple(report.traceparents), report.followers)
        except TypeError as error:
            raise ValueError(f"not a report: {error}") from error


def max_links(setting: str | None) -> int:
    """Return how many traces a session's setting asks for; 0 where nobody does."""
    return max((follower.max_links for follower in _parse_followers(setting)), default=0)


class TraceForwarder:
    """Sends reports of traces to their followers, from the driver."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._resources = WorkerResources()

    def forward(self, report: TraceReport) -> None:
        """Send a report; waits for 2 seconds at most for each follower, once."""
        from millrace.monitoring.sender import send

        with self._lock:
            for follower in _parse_followers(report.followers):
                sent = TraceReport(report.run, report.batch, report.traceparents[: follower.max_links])
                send(follower.receiver, sent, self._resources)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._resources.close()


def _parse_followers(setting: str | None) -> Iterable[TraceFollower]:
    for entry in (setting or "").split(","):
        links, _, address = entry.partition("@")
        for receiver in parse_receivers(address):
            if links.isdecimal():
                yield TraceFollower(receiver, int(links))
