"""Every metric of millrace, declared once: its name, unit, kind and labels, and one sentence that says what it is.

Exporters, the live page, dashboards and docs take them from here. Names follow Prometheus: base units, and ``_total``
for counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from millrace.contracts.jobs import JobTable, PipelineCounts
from millrace.contracts.metrics import PartitionMetrics, QueryReport, SinkMetrics


class MetricKind(StrEnum):
    """Kinds of metrics: counters only rise, gauges go up and down."""

    COUNTER = "counter"
    GAUGE = "gauge"


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric.

    Attributes:
        name: Its name, as Prometheus gets it.
        kind: Counters only rise, but for restarts.
        unit: The unit of its values, such as ``seconds``; empty for a state.
        labels: The names that tell its values apart.
        help: One sentence about it.
        source: The attribute of the metrics of a partition, a sink, a query or a pipeline that it shows, or the metric
            of a client by Java's name; empty for one that is computed.
        per_unit: The number by which the attribute is divided: 1000 makes seconds of milliseconds.
    """

    name: str
    kind: MetricKind
    unit: str
    labels: tuple[str, ...]
    help: str
    source: str = ""
    per_unit: int = 1


@dataclass(frozen=True)
class Value:
    """A value of a metric.

    Attributes:
        metric: Its declaration.
        labels: The values of the declaration's labels, in their order.
        value: The number, in the declaration's unit.
    """

    metric: Metric
    labels: tuple[str, ...]
    value: float


_QUERY = ("query",)
_PARTITION = ("query", "topic", "partition")


def _of_partition(name: str, kind: MetricKind, unit: str, source: str, sentence: str, per_unit: int = 1) -> Metric:
    return Metric(f"millrace_source_{name}", kind, unit, _PARTITION, sentence, source, per_unit)


PARTITION_METRICS = (
    _of_partition(
        "lag_records",
        MetricKind.GAUGE,
        "records",
        "pending_records",
        "Offsets between the next record to read and the end of the log, also behind open transactions.",
    ),
    _of_partition(
        "lag_seconds",
        MetricKind.GAUGE,
        "seconds",
        "current_emit_event_time_lag",
        "Age of the last record, by its timestamp, when its row was built.",
        1000,
    ),
    _of_partition(
        "stable_lag_records",
        MetricKind.GAUGE,
        "records",
        "last_stable_offset_lag",
        "Part of the lag that cannot be read yet because a transaction is open.",
    ),
    _of_partition(
        "offset", MetricKind.GAUGE, "", "current_offset", "Offset of the record to read next, after the micro-batch."
    ),
    _of_partition(
        "committed_offset", MetricKind.GAUGE, "", "committed_offset", "Offset that the consumer group has committed."
    ),
    _of_partition("records_total", MetricKind.COUNTER, "records", "num_records_in", "Records read, before any filter."),
    _of_partition(
        "bytes_total", MetricKind.COUNTER, "bytes", "num_bytes_in", "Bytes of the values of the records read."
    ),
    _of_partition(
        "malformed_total",
        MetricKind.COUNTER,
        "records",
        "num_records_in_errors",
        "Records that were skipped because they are malformed.",
    ),
    _of_partition(
        "skipped_offsets_total",
        MetricKind.COUNTER,
        "records",
        "records_skipped",
        "Offsets that were skipped because their records were gone.",
    ),
    _of_partition("state_keys", MetricKind.GAUGE, "", "state_keys", "Rows in the state of an upsert table."),
    _of_partition(
        "state_bytes", MetricKind.GAUGE, "bytes", "state_bytes", "Bytes of this state on an executor's disk."
    ),
)


def _of_sink(name: str, kind: MetricKind, unit: str, source: str, sentence: str, per_unit: int = 1) -> Metric:
    return Metric(f"millrace_sink_{name}", kind, unit, _QUERY, sentence, source, per_unit)


SINK_METRICS = (
    _of_sink("records_total", MetricKind.COUNTER, "records", "num_records_out", "Records written."),
    _of_sink(
        "bytes_total",
        MetricKind.COUNTER,
        "bytes",
        "num_bytes_out",
        "Bytes of the keys and values written, before compression.",
    ),
    _of_sink(
        "send_errors_total",
        MetricKind.COUNTER,
        "records",
        "num_records_send_errors",
        "Records whose delivery failed without failing their task.",
    ),
    _of_sink(
        "send_seconds",
        MetricKind.GAUGE,
        "seconds",
        "current_send_time",
        "Time until brokers had acknowledged the last records of a task, the longest of all tasks.",
        1000,
    ),
    _of_sink("failed_tasks_total", MetricKind.COUNTER, "", "tasks_failed", "Attempts of tasks that failed."),
)

SINK_TRANSACTIONS = Metric(
    "millrace_sink_transactions_total",
    MetricKind.COUNTER,
    "",
    ("query", "outcome"),
    "Tasks of exactly-once writes by outcome: committed, aborted, or skipped because their rows were in the topic.",
)

_OUTCOMES = {
    "committed": "transactions_committed",
    "aborted": "transactions_aborted",
    "skipped": "transactions_skipped",
}


def _of_client(java: str, kind: MetricKind, unit: str, sentence: str, per_unit: int = 1) -> Metric:
    """Declare a metric of Kafka's clients by Java's name, with its unit behind it where the name has none."""
    name = java.replace("-", "_")
    ends_with_unit = kind == MetricKind.COUNTER or unit in ("", "records") or name.endswith(unit)
    suffix = "" if ends_with_unit else f"_{unit}"
    return Metric(f"millrace_client_{name}{suffix}", kind, unit, ("query", "client"), sentence, java, per_unit)


def _counted(java: str, unit: str, sentence: str) -> Metric:
    return _of_client(java, MetricKind.COUNTER, unit, sentence)


def _state(java: str, unit: str, sentence: str) -> Metric:
    return _of_client(java, MetricKind.GAUGE, unit, sentence)


def _time(java: str, sentence: str) -> Metric:
    return _of_client(java, MetricKind.GAUGE, "seconds", sentence, per_unit=1000)


CLIENT_METRICS = (
    _counted("request-total", "", "Requests sent."),
    _counted("outgoing-byte-total", "bytes", "Bytes sent."),
    _counted("response-total", "", "Responses received."),
    _counted("incoming-byte-total", "bytes", "Bytes received."),
    _counted("network-io-total", "", "Requests sent and responses received."),
    _state("request-size-avg", "bytes", "Size of a request, on average."),
    _state("connection-count", "", "Connections to brokers that are up."),
    _counted("connection-creation-total", "", "Connections made."),
    _counted("connection-close-total", "", "Connections closed."),
    _time("request-latency-avg", "Round trip of a request, on average."),
    _time("request-latency-max", "Round trip of a request, the longest."),
    _counted("records-consumed-total", "records", "Records that a consumer has received."),
    _counted("bytes-consumed-total", "bytes", "Bytes of these records."),
    _counted("fetch-total", "", "Fetch requests of a consumer."),
    _state("fetch-size-avg", "bytes", "Bytes of the records of a fetch, on average."),
    _state("records-per-request-avg", "records", "Records of a fetch, on average."),
    _time("fetch-throttle-time-avg", "Time that a quota delayed fetches, on average."),
    _time("fetch-throttle-time-max", "Time that a quota delayed fetches, the longest."),
    _state("records-lag-max", "records", "Lag of the partitions that a consumer reads at the moment, the largest."),
    _state("records-lead-min", "records", "Distance of a consumer to the beginning of the log, the smallest."),
    _counted("record-send-total", "records", "Records that a producer has sent."),
    _state("record-size-avg", "bytes", "Size of a record that a producer has sent, on average."),
    _time("record-queue-time-avg", "Time that records waited in a producer, on average."),
    _time("record-queue-time-max", "Time that records waited in a producer, the longest."),
    _state("batch-size-avg", "bytes", "Bytes of a batch for a partition, on average."),
    _state("batch-size-max", "bytes", "Bytes of a batch for a partition, the largest."),
    _time("produce-throttle-time-avg", "Time that a quota delayed producing, on average."),
    _time("produce-throttle-time-max", "Time that a quota delayed producing, the longest."),
    _state("requests-in-flight", "", "Requests of a producer that wait for their responses."),
    _state("buffer-total-bytes", "bytes", "Bytes that a producer may buffer."),
    _state("buffer-available-bytes", "bytes", "Bytes of these that are free."),
    _state("metadata-age", "seconds", "Age of a producer's metadata."),
)


def _of_pipeline(
    name: str, kind: MetricKind, unit: str, labels: tuple[str, ...], source: str, sentence: str, per_unit: int = 1
) -> Metric:
    return Metric(f"millrace_pipeline_{name}", kind, unit, labels, sentence, source, per_unit)


_TABLE = ("query", "table")

TABLE_METRICS = (
    _of_pipeline("changes_total", MetricKind.COUNTER, "", _TABLE, "changes", "Changes of a source's table."),
    _of_pipeline(
        "lag_seconds",
        MetricKind.GAUGE,
        "seconds",
        _TABLE,
        "age_ms",
        "Age of the newest message of a source's table, after the micro-batch.",
        1000,
    ),
    _of_pipeline(
        "schema_version",
        MetricKind.GAUGE,
        "",
        _TABLE,
        "schema_version",
        "Schema changes of a source's table, its creation among them.",
    ),
    _of_pipeline(
        "collected_total",
        MetricKind.COUNTER,
        "records",
        _TABLE,
        "collected",
        "Messages of a paused table that went to the collector.",
    ),
)

TABLE_PAUSED = _of_pipeline("table_paused", MetricKind.GAUGE, "", _TABLE, "", "1 while a source's table is paused.")

PIPELINE_METRICS = (
    _of_pipeline(
        "schema_changes_total",
        MetricKind.COUNTER,
        "",
        _QUERY,
        "schema_changes",
        "Schema changes that a pipeline's sink got.",
    ),
    _of_pipeline(
        "malformed_total",
        MetricKind.COUNTER,
        "records",
        _QUERY,
        "malformed",
        "Malformed messages that a pipeline has skipped.",
    ),
)

QUERY_UP = Metric("millrace_query_up", MetricKind.GAUGE, "", _QUERY, "1 while the query runs, 0 after it has ended.")
LAST_PROGRESS = Metric(
    "millrace_query_last_progress_timestamp_seconds",
    MetricKind.GAUGE,
    "seconds",
    _QUERY,
    "When the last micro-batch was reported, in seconds since 1970.",
)
MICRO_BATCH_DURATION = Metric(
    "millrace_micro_batch_duration_seconds",
    MetricKind.GAUGE,
    "seconds",
    ("query", "phase"),
    "Duration of the last micro-batch by phase, by Spark's names; triggerExecution is the whole.",
)
INPUT_RATE = Metric(
    "millrace_query_input_rows_per_second",
    MetricKind.GAUGE,
    "",
    _QUERY,
    "Rows that arrived, by the time since the micro-batch before began.",
    "input_rows_per_second",
)
PROCESSED_RATE = Metric(
    "millrace_query_processed_rows_per_second",
    MetricKind.GAUGE,
    "",
    _QUERY,
    "Rows that were processed, by the duration of the micro-batch.",
    "processed_rows_per_second",
)
BUILD_INFO = Metric("millrace_build_info", MetricKind.GAUGE, "", ("version",), "1, with the version of millrace.")

METRICS: tuple[Metric, ...] = (
    *PARTITION_METRICS,
    *SINK_METRICS,
    SINK_TRANSACTIONS,
    *CLIENT_METRICS,
    *PIPELINE_METRICS,
    *TABLE_METRICS,
    TABLE_PAUSED,
    QUERY_UP,
    LAST_PROGRESS,
    MICRO_BATCH_DURATION,
    INPUT_RATE,
    PROCESSED_RATE,
    BUILD_INFO,
)
"""All metrics."""


def values_of(report: QueryReport) -> Iterator[Value]:
    """Yield the values of a query's metrics, those of partitions first."""
    for source in report.sources:
        for partition in source.partitions:
            yield from _partition_values(report.query, partition)
        yield from _client_values(report.query, source.consumers)
    if report.sink is not None:
        yield from _sink_values(report.query, report.sink)
        yield from _client_values(report.query, report.sink.producers)
    if report.pipeline is not None:
        yield from _pipeline_values(report.query, report.pipeline)
    yield Value(QUERY_UP, (report.query,), float(report.is_active))
    if report.batch_id is not None:
        yield Value(LAST_PROGRESS, (report.query,), report.time)
        for phase, milliseconds in report.phases.items():
            yield Value(MICRO_BATCH_DURATION, (report.query, phase), milliseconds / 1000)
        yield from _plain_values((INPUT_RATE, PROCESSED_RATE), report, (report.query,))


def _partition_values(query: str, partition: PartitionMetrics) -> Iterator[Value]:
    return _plain_values(PARTITION_METRICS, partition, (query, partition.topic, str(partition.partition)))


def _sink_values(query: str, sink: SinkMetrics) -> Iterator[Value]:
    yield from _plain_values(SINK_METRICS, sink, (query,))
    for outcome, attribute in _OUTCOMES.items():
        yield Value(SINK_TRANSACTIONS, (query, outcome), getattr(sink, attribute))


def _client_values(query: str, clients: Mapping[str, Mapping[str, float]]) -> Iterator[Value]:
    for client, measured in clients.items():
        for metric in CLIENT_METRICS:
            if metric.source in measured:
                yield Value(metric, (query, client), measured[metric.source] / metric.per_unit)


def _pipeline_values(query: str, pipeline: PipelineCounts) -> Iterator[Value]:
    yield from _plain_values(PIPELINE_METRICS, pipeline, (query,))
    for table in pipeline.tables:
        yield from _table_values(query, table)


def _table_values(query: str, table: JobTable) -> Iterator[Value]:
    yield from _plain_values(TABLE_METRICS, table, (query, table.name))
    yield Value(TABLE_PAUSED, (query, table.name), float(table.paused is not None))


def _plain_values(metrics: tuple[Metric, ...], measured: Any, labels: tuple[str, ...]) -> Iterator[Value]:
    for metric in metrics:
        value = getattr(measured, metric.source)
        if value is not None:
            yield Value(metric, labels, value / metric.per_unit)
