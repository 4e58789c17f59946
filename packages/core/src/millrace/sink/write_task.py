"""A task of a write, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PlannedBatch:
    """The newest micro-batch in the checkpoint of a streaming query.

    Attributes:
        batch: Its number.
        at: The time when Spark planned it for the first time, in seconds since 1970: no attempt at it is older.
        noted_query: The query that has last completed a micro-batch with this sink; empty if it is not known.
        noted_batch: That micro-batch.
        noted_at: When the query was registered with the brokers as having completed it, in seconds since 1970; 0 if
            that is not known.
    """

    batch: int
    at: float
    noted_query: str = ""
    noted_batch: int = -1
    noted_at: float = 0.0


@dataclass(frozen=True)
class WriteTask:
    """One of a write's tasks.

    Attributes:
        index: Its index, from 0.
        count: The number of tasks; 0 when Spark does not tell.
        query: The id of the streaming query, or of the run of a batch write.
        batch: The number of the micro-batch; 0 for a batch write.
        is_streaming: Whether it writes a micro-batch of a streaming query.
        run: The run of the streaming query, another one after each start.
        completed_batch: A micro-batch that this run has completed, as far as the driver knows.
        write: The id of a batch write inside foreachBatch; empty for a streaming write.
        planned: What the checkpoint says of the micro-batch, where brokers may have forgotten the query.
        is_measured: Whether somebody follows the session's queries.
        may_divide_anew: Whether Spark may divide a repeated micro-batch into other tasks than before.
    """

    index: int
    count: int
    query: str
    batch: int = 0
    is_streaming: bool = False
    run: str = ""
    completed_batch: int | None = None
    write: str = ""
    planned: PlannedBatch | None = None
    is_measured: bool = False
    may_divide_anew: bool = False

    @property
    def may_be_repeated(self) -> bool:
        """True if an earlier run may have written some of the micro-batch: a run repeats its first one at most."""
        is_later = self.completed_batch is not None and self.completed_batch < self.batch
        return self.is_streaming and bool(self.run) and not is_later


@dataclass(frozen=True)
class WriteResult:
    """The result of a task.

    Attributes:
        rows: The number of rows written.
        records: The number of records that they became.
        bytes: The bytes of the records' keys and values; counted only for metrics.
        is_skipped: Whether its rows had been written already.
        is_new: Whether it looked up what had been written before, as the first task of its transactional id in a
            process does.
        send_errors: The number of failed deliveries that fail no task.
        send_ms: The time that it waited for the brokers at its end, in ms; None when it did not.
        duration_ms: The time that it took, in ms.
        producer: The name of its Kafka producer; empty without statistics.
        statistics: The producer's statistics.
        digest: The digest of the records, for the ledger; empty where only their number counts.
    """

    rows: int = 0
    records: int = 0
    bytes: int = 0
    is_skipped: bool = False
    is_new: bool = False
    send_errors: int = 0
    send_ms: int | None = field(default=None, compare=False)
    duration_ms: int = field(default=0, compare=False)
    producer: str = field(default="", compare=False)
    statistics: Mapping[str, float] = field(default_factory=dict, compare=False)
    digest: str = field(default="", compare=False)
