"""Metrics of sources, sinks and queries: frozen values, with the names of the reference connectors in `to_dict`."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from millrace.contracts.datasets import TopicDataset
from millrace.contracts.jobs import PipelineCounts
from millrace.display import html_table, html_text, text_table


@dataclass(frozen=True)
class Metrics:
    """Metrics of a source, a sink, a partition or a query."""

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics by the names that the reference connectors give them, such as ``pendingRecords``."""
        return {camel_case(field.name): _to_plain(getattr(self, field.name)) for field in dataclasses.fields(self)}


@dataclass(frozen=True)
class PartitionMetrics(Metrics):
    """One partition of a source. Times are in milliseconds. A metric is None until it is first reported.

    Attributes:
        topic: Its topic.
        partition: Its number.
        current_offset: The offset of the record that is read next, after the micro-batch of the progress.
        committed_offset: The offset that the consumer group has committed.
        pending_records: The lag: the number of offsets between the current one and the end of the log, including
            those of open transactions.
        num_records_in: Records read, before any filter.
        num_bytes_in: Bytes of their values.
        records_skipped: Offsets skipped because they were gone.
        current_fetch_event_time_lag: The age of the last record, according to its timestamp, when it was fetched.
        current_emit_event_time_lag: The age of the last record when its row was built.
        num_records_in_errors: Records that were skipped because they are malformed.
        last_stable_offset_lag: The part of `pending_records` that cannot be read yet, since it is behind the last
            stable offset: transactions are open. 0 where the query reads uncommitted records.
        state_restores: How often an executor restored the state of an upsert table from a snapshot.
        state_keys: The number of rows in the state of an upsert table, before the last micro-batch that was counted.
            None if there is no state.
        state_bytes: The size of this state on the disk of the executor that read last, in bytes.
    """

    topic: str
    partition: int
    current_offset: int
    committed_offset: int | None
    pending_records: int
    num_records_in: int
    num_bytes_in: int
    records_skipped: int
    current_fetch_event_time_lag: int | None
    current_emit_event_time_lag: int | None
    num_records_in_errors: int = 0
    last_stable_offset_lag: int = 0
    state_restores: int = 0
    state_keys: int | None = None
    state_bytes: int | None = None


@dataclass(frozen=True)
class SourceMetrics(Metrics):
    """A millrace source of a query. Times are in milliseconds. A metric is None until it is first reported.

    Counts from executors (records, malformed records, bytes, event-time lags) cover the micro-batches since the start
    of the query that were complete when the reported one was planned.

    Attributes:
        partitions: Its partitions, in order.
        pending_records: The sum of their lags.
        num_records_in: Records read, before any filter.
        num_records_in_per_second: Records read by the last completed micro-batch, divided by its duration.
        num_bytes_in: Bytes of their values.
        num_bytes_in_per_second: Bytes read by the last completed micro-batch, divided by its duration.
        num_records_in_errors: Records that were skipped because they are malformed.
        records_skipped: Offsets skipped because they were gone.
        commits_succeeded: Commits of the group's offsets.
        commits_failed: Commits of the group's offsets that failed.
        current_fetch_event_time_lag: The largest of the partitions.
        current_emit_event_time_lag: The largest of the partitions.
        watermark_lag: The time from the query's watermark to the progress.
        source_idle_time: The time since the last micro-batch ended.
        missing_reports: Splits whose executors could not report to the driver; what they counted is missing.
        consumers: The statistics of the Kafka consumers, by client.
        last_stable_offset_lag: The part of `pending_records` that is behind open transactions, of all partitions.
        state_restores: How often executors restored the state of an upsert table from snapshots.
        state_keys: The number of rows in the state of an upsert table, of all partitions; None where none is kept.
        state_bytes: The bytes that this state takes on the executors' disks, of all partitions.
    """

    partitions: tuple[PartitionMetrics, ...]
    pending_records: int
    num_records_in: int
    num_records_in_per_second: float
    num_bytes_in: int
    num_bytes_in_per_second: float
    num_records_in_errors: int
    records_skipped: int
    commits_succeeded: int
    commits_failed: int
    current_fetch_event_time_lag: int | None
    current_emit_event_time_lag: int | None
    watermark_lag: int | None
    source_idle_time: int
    missing_reports: int
    consumers: Mapping[str, Mapping[str, float]]
    last_stable_offset_lag: int = 0
    state_restores: int = 0
    state_keys: int | None = None
    state_bytes: int | None = None


@dataclass(frozen=True)
class SinkMetrics(Metrics):
    """A millrace sink: its writes since its `SinkMetricsCollector` was created.

    Rates and `current_send_time` are those of the last micro-batch or batch write that has ended. A rate is the number
    of records, or bytes, divided by the duration of the longest task, which includes the query's own work. Times are in
    milliseconds. A metric is None until it is first reported.

    Attributes:
        num_records_out: Records written. A repeated micro-batch adds only the records that it really writes.
        num_records_out_per_second: The rate of these records.
        num_bytes_out: Bytes of their keys and values, before compression.
        num_bytes_out_per_second: The rate of these bytes.
        num_records_send_errors: Records whose delivery failed without failing their task, which happens only with
            guarantee none. If a delivery fails after its task has ended, a later task of the same worker counts it.
        current_send_time: How long brokers took to acknowledge the last records of a task: the maximum of all tasks.
            None with guarantee none.
        transactions_committed: Tasks that committed a transaction; those without rows open none.
        transactions_aborted: With exactly-once, the same as `tasks_failed`: a failed attempt's transaction is aborted,
            by itself or by the next attempt.
        transactions_skipped: Tasks whose rows were already in the topic, for example in a repeated micro-batch.
        tasks_failed: Failed attempts of tasks, as far as the driver can tell. Each attempt before a successful one
            counts, also if a speculative one has replaced it. If the write fails, each task without success counts
            once, also if it was only cancelled. Their records are not counted.
        producers: The statistics of the Kafka producers, by client; empty with ``register.producer.metrics`` = false.
    """

    num_records_out: int = 0
    num_records_out_per_second: float = 0.0
    num_bytes_out: int = 0
    num_bytes_out_per_second: float = 0.0
    num_records_send_errors: int = 0
    current_send_time: int | None = None
    transactions_committed: int = 0
    transactions_aborted: int = 0
    transactions_skipped: int = 0
    tasks_failed: int = 0
    producers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryMetrics(Metrics):
    """The millrace sources and the millrace sink of a streaming query.

    Attributes:
        sources: Its sources, in the order of the query's progress; none before the first progress.
        sink: Its sink; None unless a `SinkMetricsCollector` was given.
    """

    sources: tuple[SourceMetrics, ...] = ()
    sink: SinkMetrics | None = None

    def __str__(self) -> str:
        """Return tables of partitions and of the sink, for people, in 80 columns."""
        if not self.sources and self.sink is None:
            return "no micro-batch has ended yet"
        tables = [text_table(PARTITION_HEADINGS, _partition_rows(source)) for source in self.sources]
        return "\n\n".join([*tables, *([text_table(SINK_HEADINGS, [_sink_row(self.sink)])] if self.sink else [])])

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        if not self.sources and self.sink is None:
            return html_text(str(self))
        tables = [html_table(PARTITION_HEADINGS, _partition_rows(source), "source") for source in self.sources]
        return "".join([*tables, *([html_table(SINK_HEADINGS, [_sink_row(self.sink)], "sink")] if self.sink else [])])


@dataclass(frozen=True)
class QueryReport:
    """The state of a streaming query after one of its events: its start, a micro-batch, an idle interval, its end.

    Attributes:
        query: Its name, or its id where it has none.
        query_id: Its id, which outlives restarts.
        run_id: The id of this run.
        time: When Spark reported the event, in seconds since 1970.
        is_active: Whether the query still runs.
        error: The sentence that tells why it ended; None while it runs, or where it was stopped.
        batch_id: The number of the last micro-batch; None before the first one has ended.
        has_run: Whether this event tells of a new micro-batch.
        input_rows: Rows that the micro-batch read, of all sources.
        input_rows_per_second: Rows that arrived, by the time since the last micro-batch began.
        processed_rows_per_second: Rows that were processed, by the duration of the micro-batch.
        phases: The duration of each phase of the micro-batch in milliseconds, by Spark's names; ``triggerExecution``
            is the whole.
        sources: The metrics of its millrace sources.
        sink: The metrics of its millrace sink; None where nobody collects them.
        inputs: The topics that it reads, as far as they are known.
        outputs: The topics that it has written to, where the names of topics are an option.
        traceparents: The traces of messages that the micro-batch read, as values of their header ``traceparent``; none
            unless a reporter asks for them.
        pipeline: What the pipeline has counted that runs as this query; None for a query of another kind.
    """

    query: str
    query_id: str
    run_id: str
    time: float
    is_active: bool = True
    error: str | None = None
    batch_id: int | None = None
    has_run: bool = False
    input_rows: int = 0
    input_rows_per_second: float = 0.0
    processed_rows_per_second: float = 0.0
    phases: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[SourceMetrics, ...] = ()
    sink: SinkMetrics | None = None
    inputs: tuple[TopicDataset, ...] = ()
    outputs: tuple[TopicDataset, ...] = ()
    traceparents: tuple[str, ...] = ()
    pipeline: PipelineCounts | None = None


OnMetrics = Callable[[str, SourceMetrics | SinkMetrics], None]
"""Get the name of a query, or of a sink's collector, and the metrics of one source or sink."""


PARTITION_HEADINGS = ("topic", "partition", "offset", "lag", "age (s)", "records", "malformed", "lost")
SINK_HEADINGS = ("records", "records/s", "bytes", "committed", "aborted", "skipped", "send errors")


def _partition_rows(source: SourceMetrics) -> list[tuple[Any, ...]]:
    return [
        (
            partition.topic,
            str(partition.partition),
            partition.current_offset,
            partition.pending_records,
            _seconds(partition.current_fetch_event_time_lag),
            partition.num_records_in,
            partition.num_records_in_errors,
            partition.records_skipped,
        )
        for partition in source.partitions
    ]


def _sink_row(sink: SinkMetrics) -> tuple[Any, ...]:
    return (
        sink.num_records_out,
        sink.num_records_out_per_second,
        sink.num_bytes_out,
        sink.transactions_committed,
        sink.transactions_aborted,
        sink.transactions_skipped,
        sink.num_records_send_errors,
    )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


# A query with 1,000 partitions has 15,000 names in each report
@functools.cache
def camel_case(name: str) -> str:
    """Return the name of an attribute as the reference connectors write it, such as ``pendingRecords``."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Metrics):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_to_plain(inner) for inner in value]
    # Clients and their statistics have names of their own
    return {key: _to_plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value
