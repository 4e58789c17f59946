"""What the driver tells the user's process after each micro-batch, or batch, that was written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class SinkReport:
    """What the tasks of a micro-batch have done together.

    Attributes:
        records: How many records they wrote.
        size: How many bytes the keys and values of these have.
        send_errors: How many deliveries have failed without failing a task.
        send_ms: The longest time, in ms, that a task waited for the brokers at its end; None when none waited.
        duration_ms: How long the longest task took, in ms.
        tasks_failed: How many attempts of tasks failed, as far as that is known.
        committed: How many tasks committed a transaction.
        aborted: How many transactions were aborted, as far as that is known.
        skipped: How many tasks' rows were written already.
        producers: What the Kafka producers say of themselves, by name.
    """

    is_answered: ClassVar[bool] = True
    LOST: ClassVar[str] = (
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
    producers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """As it is sent."""
        return json.dumps(dataclasses.asdict(self)).encode()

    @classmethod
    def from_bytes(cls, sent: bytes) -> SinkReport:
        """What was sent.

        Raises:
            ValueError: It is no report.
        """
        try:
            return cls(**json.loads(sent))
        except TypeError as error:
            raise ValueError(f"not a report: {error}") from error
