"""The report that an executor sends to the driver after each split that it has read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, NamedTuple

from millrace.contracts import TopicPartition
from millrace.monitoring.malformed_runs import MalformedRuns, RangeRuns
from millrace.monitoring.trace_report import TraceReport


@dataclass(slots=True)
class PartitionCounts:
    """Counts of the records that were read of one partition.

    Attributes:
        records: The number of records, before any filter.
        bytes: The number of bytes in their values.
        skipped: The number of offsets that were skipped because they are gone.
        fetch_lag_ms: The age of the last record when it was fetched, by its timestamp; None without one.
        emit_lag_ms: The age of the last record whose row was built, when that was done.
        errors: The number of malformed records among them.
        restores: How often the state of a table was restored from a snapshot.
        state_keys: The number of keys in that state before the records; None where none is kept.
        state_bytes: The bytes that the state took then on the executor's disk.
    """

    records: int = 0
    bytes: int = 0
    skipped: int = 0
    fetch_lag_ms: int | None = None
    emit_lag_ms: int | None = None
    errors: int = 0
    restores: int = 0
    state_keys: int | None = None
    state_bytes: int | None = None

    def add(self, later: PartitionCounts) -> None:
        """Add the counts of what was read later."""
        self.records += later.records
        self.bytes += later.bytes
        self.skipped += later.skipped
        self.fetch_lag_ms = self.fetch_lag_ms if later.fetch_lag_ms is None else later.fetch_lag_ms
        self.emit_lag_ms = self.emit_lag_ms if later.emit_lag_ms is None else later.emit_lag_ms
        self.errors += later.errors
        self.restores += later.restores
        self.state_keys = self.state_keys if later.state_keys is None else later.state_keys
        self.state_bytes = self.state_bytes if later.state_bytes is None else later.state_bytes

    def to_list(self) -> list[int | None]:
        """Return the fields in order, without those of a state where there is none."""
        counts = [self.records, self.bytes, self.skipped, self.fetch_lag_ms, self.emit_lag_ms, self.errors]
        return counts if self.state_keys is None else [*counts, self.restores, self.state_keys, self.state_bytes]


class MalformedTotals(NamedTuple):
    """The malformed messages of a query, since it started.

    Attributes:
        malformed: Their number.
        messages: The number of messages of which they are a share; 0 until all splits of the micro-batch have reported.
        longest_run: The most in a row in a partition of the report that is answered, as far as splits have reported.
        not_compared: The number of those that are not among ``messages``, see `SplitReport.replayed`.
    """

    malformed: int
    messages: int
    longest_run: int = 0
    not_compared: int = 0

    def to_bytes(self) -> bytes:
        """Return the totals as they are sent."""
        return b"%d %d %d %d" % self

    @classmethod
    def from_bytes(cls, sent: bytes) -> MalformedTotals:
        """Parse totals."""
        return cls(*map(int, sent.split()))


@dataclass(frozen=True)
class SplitReport:
    """A report of one split that was read.

    Attributes:
        batch: The number of its micro-batch, as the driver counts them.
        split: Its number in the batch.
        counts: What was read, by partition.
        client: The name of the client that read it; empty without statistics.
        statistics: The client's statistics.
        is_answered: Whether the sender waits for an answer: `MalformedTotals` of the whole query.
        traces: The traces of its messages; None where nobody asks, or none is recorded.
        runs: The malformed messages in a row, by partition; empty where no option limits them.
        replayed: The partitions of which an earlier attempt has read all, and this one no message: it counts none.
    """

    UNREACHABLE: ClassVar[str] = (
        "the driver does not answer at {host}:{port}, so that its metrics lack what is read here: {failure}. Give an "
        "address of the driver that this machine can reach by option 'scan.metrics.address'"
    )

    batch: int
    split: int
    counts: dict[TopicPartition, PartitionCounts]
    client: str = ""
    statistics: dict[str, float] = field(default_factory=dict)
    is_answered: bool = False
    traces: TraceReport | None = None
    runs: dict[TopicPartition, RangeRuns] = field(default_factory=dict)
    replayed: tuple[TopicPartition, ...] = ()

    def replacing(self, before: SplitReport) -> SplitReport:
        """Return this report of a split that was read again, with what the one before counts of replayed partitions."""
        counts, runs = dict(self.counts), dict(self.runs)
        for partition in set(self.replayed).difference(before.replayed):
            if partition in before.counts:
                counts[partition] = before.counts[partition]
            if partition in before.runs:
                runs[partition] = before.runs[partition]
        still_replayed = tuple(partition for partition in self.replayed if partition in before.replayed)
        return replace(self, counts=counts, runs=runs, replayed=still_replayed)

    def to_bytes(self) -> bytes:
        """Return the report as it is sent."""
        counts = [[*partition, *partition_counts.to_list()] for partition, partition_counts in self.counts.items()]
        traces = None if self.traces is None else asdict(self.traces)
        runs = [[*partition, of.start, of.end, *of.runs] for partition, of in self.runs.items()]
        fields = [self.batch, self.split, counts, self.client, self.statistics, self.is_answered, traces, runs]
        return json.dumps([*fields, self.replayed]).encode()

    @classmethod
    def from_bytes(cls, sent: bytes) -> SplitReport:
        """Parse a report.

        Raises:
            ValueError: The bytes are no report.
        """
        try:
            batch, split, counts, client, statistics, is_answered, traces, runs, replayed = json.loads(sent)
            by_partition = {
                TopicPartition(topic, partition): PartitionCounts(*fields) for topic, partition, *fields in counts
            }
            report = None if traces is None else TraceReport.from_json(traces)
            by_range = {
                TopicPartition(topic, partition): RangeRuns(start, end, MalformedRuns(*lengths))
                for topic, partition, start, end, *lengths in runs
            }
            not_read = tuple(TopicPartition(*partition) for partition in replayed)
        except TypeError as error:
            raise ValueError(f"not a report: {error}") from error
        return cls(batch, split, by_partition, client, statistics, is_answered, report, by_range, not_read)
