"""The report that the driver sends to the user's process after each micro-batch, or batch, that was written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class SinkReport:
    """A report of what all tasks of a micro-batch have written.

    Attributes:
        records: The number of records written.
        size: The number of bytes in their keys and values.
        send_errors: The number of deliveries that have failed without failing a task.
        send_ms: The longest time, in ms, that a task waited for the brokers at its end; None when none waited.
        duration_ms: The duration of the longest task, in ms.
        tasks_failed: The number of failed attempts of tasks that are known.
        committed: The number of tasks that committed a transaction.
        aborted: The number of aborted transactions that are known.
        skipped: The number of tasks whose rows were written already.
        producers: The statistics of the Kafka producers, by name.
        run: The run of the streaming query that wrote; empty where the receiver knows what it is for.
        servers: The bootstrap servers; empty where there is no run.
        topics: The topics that the options name.
        columns: The types of the columns written, by name.
    """

    is_answered: ClassVar[bool] = True
    UNREACHABLE: ClassVar[str] = (
        "nobody answers at {host}:{port}, so that metrics lack what is written from now on: {failure}. If the "
        "SinkMetricsCollector that gave this address still listens, create it with a host that the driver's machine "
        "can reach"
    )

    records: int = 0
    size: int = 0
    send_errors: int = 0
    send_ms: int | None = None
    duration_ms: int = 0
    tasks_failed: int = 0
    committed: int = 0
    aborted: int = 0
    skipped: int = 0
    producers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    run: str = ""
    servers: str = ""
    topics: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return the report as it is sent."""
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def from_bytes(cls, sent: bytes) -> SinkReport:
        """Parse a report.

        Raises:
            ValueError: The bytes are no report.
        """
        try:
            return cls(**json.loads(sent))
        except TypeError as error:
            raise ValueError(f"not a report: {error}") from error
