"""What an executor tells the driver after each split that it has read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

from millrace.contracts import TopicPartition


class Address(NamedTuple):
    """Where the driver listens, and the secret that both sides prove to know."""

    host: str
    port: int
    secret: bytes

    def __repr__(self) -> str:
        return f"Address({self.host}:{self.port})"


class Sendable(Protocol):
    """What is sent to a receiver.

    Attributes:
        LOST: What to say when the receiver cannot be reached, with its ``host`` and ``port`` and the ``failure``.
    """

    LOST: ClassVar[str]

    @property
    def is_answered(self) -> bool:
        """Whether the sender waits for an answer."""

    def to_bytes(self) -> bytes:
        """As it is sent."""


@dataclass(slots=True)
class Count:
    """What was read of one partition.

    Attributes:
        records: How many records, before any filter.
        bytes: How many bytes their values have.
        skipped: How many offsets were skipped because they are gone.
        fetch_lag_ms: How old the last record was when it was fetched, by its timestamp; None without one.
        emit_lag_ms: How old the last record was whose row was made, when that was done.
        errors: How many of the records were malformed.
    """

    records: int = 0
    bytes: int = 0
    skipped: int = 0
    fetch_lag_ms: int | None = None
    emit_lag_ms: int | None = None
    errors: int = 0

    def add(self, later: Count) -> None:
        """Add what was read later."""
        self.records += later.records
        self.bytes += later.bytes
        self.skipped += later.skipped
        self.fetch_lag_ms = self.fetch_lag_ms if later.fetch_lag_ms is None else later.fetch_lag_ms
        self.emit_lag_ms = self.emit_lag_ms if later.emit_lag_ms is None else later.emit_lag_ms
        self.errors += later.errors

    def to_list(self) -> list[int | None]:
        """The fields in order."""
        return [self.records, self.bytes, self.skipped, self.fetch_lag_ms, self.emit_lag_ms, self.errors]


@dataclass(frozen=True)
class Report:
    """What was read of one split.

    Attributes:
        batch: The number of its micro-batch.
        split: Its number in the batch.
        counts: What was read, by partition.
        client: The client that read it; empty without statistics.
        statistics: What the client says of itself.
        is_answered: Whether the sender waits for an answer, which is how many records of the query were malformed.
    """

    LOST: ClassVar[str] = (
        "the driver does not answer at {host}:{port}, so that its metrics lack what is read here: {failure}. Give an "
        "address of the driver that this machine can reach by option 'scan.metrics.address'"
    )

    batch: int
    split: int
    counts: dict[TopicPartition, Count]
    client: str = ""
    statistics: dict[str, int] = field(default_factory=dict)
    is_answered: bool = False

    def to_bytes(self) -> bytes:
        """As it is sent."""
        counts = [[*partition, *count.to_list()] for partition, count in self.counts.items()]
        fields = [self.batch, self.split, counts, self.client, self.statistics, self.is_answered]
        return json.dumps(fields).encode()

    @classmethod
    def from_bytes(cls, sent: bytes) -> Report:
        """What was sent.

        Raises:
            ValueError: It is no report.
        """
        try:
            batch, split, counts, client, statistics, is_answered = json.loads(sent)
            found = {TopicPartition(topic, partition): Count(*fields) for topic, partition, *fields in counts}
        except TypeError as error:
            raise ValueError(f"not a report: {error}") from error
        return cls(batch, split, found, client, statistics, is_answered)
