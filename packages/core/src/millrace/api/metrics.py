"""Read a query's metrics from the progress that Spark reports, and its sink's from their collector."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from millrace.api.metrics_model import PartitionMetrics, QueryMetrics, SourceMetrics
from millrace.checkpoint import ReportedOffset, StreamOffset, parse_reported_offset
from millrace.contracts import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    from millrace.api.sink_metrics import SinkMetricsCollector


def metrics(query: StreamingQuery, sink: SinkMetricsCollector | None = None) -> QueryMetrics:
    """Return the metrics of a query's millrace sources, as of its last progress, and those of its sink.

    Args:
        query: A streaming query, of a classic or of a Connect session.
        sink: The collector whose options the query writes with; without it the sink's metrics are None.
    """
    progress = query.lastProgress
    return QueryMetrics(
        sources=() if progress is None else source_metrics(progress), sink=None if sink is None else sink.metrics()
    )


def source_metrics(progress: StreamingQueryProgress) -> tuple[SourceMetrics, ...]:
    """Return the metrics of the millrace sources in a progress, as a listener gets it."""
    watermark_lag = _watermark_lag(progress)
    offsets = (
        (parse_reported_offset(source.latestOffset), parse_reported_offset(source.endOffset))
        for source in progress.sources
    )
    return tuple(_source(latest, current.offset, watermark_lag) for latest, current in offsets if latest and current)


def _source(latest: ReportedOffset, current: StreamOffset, watermark_lag: int | None) -> SourceMetrics:
    reported = latest.metrics
    partitions = tuple(_partition(partition, offset, latest) for partition, offset in current.positions.items())
    return SourceMetrics(
        partitions=partitions,
        pending_records=sum(each.pending_records for each in partitions),
        num_records_in=sum(each.num_records_in for each in partitions),
        num_records_in_per_second=reported.get("records_per_second", 0.0),
        num_bytes_in=sum(each.num_bytes_in for each in partitions),
        num_bytes_in_per_second=reported.get("bytes_per_second", 0.0),
        num_records_in_errors=sum(each.num_records_in_errors for each in partitions),
        records_skipped=sum(each.records_skipped for each in partitions) + reported.get("skipped", 0),
        commits_succeeded=reported.get("commits_succeeded", 0),
        commits_failed=reported.get("commits_failed", 0),
        current_fetch_event_time_lag=_largest(each.current_fetch_event_time_lag for each in partitions),
        current_emit_event_time_lag=_largest(each.current_emit_event_time_lag for each in partitions),
        watermark_lag=watermark_lag,
        source_idle_time=reported.get("idle_ms", 0),
        missing_reports=reported.get("missing", 0),
        consumers=reported.get("clients", {}),
    )


def _partition(partition: TopicPartition, offset: int, latest: ReportedOffset) -> PartitionMetrics:
    topic, number = partition.topic, str(partition.partition)
    counts = latest.metrics.get("partitions", {}).get(topic, {}).get(number, [0, 0, 0, None, None, 0])
    return PartitionMetrics(
        topic,
        partition.partition,
        offset,
        latest.metrics.get("committed", {}).get(topic, {}).get(number),
        max(0, latest.offset.positions.get(partition, offset) - offset),
        *counts,
    )


def _largest(found: Any) -> int | None:
    return max((each for each in found if each is not None), default=None)


def _watermark_lag(progress: StreamingQueryProgress) -> int | None:
    watermark = progress.eventTime.get("watermark")
    if watermark is None or watermark.startswith("1970-01-01T00:00:00"):
        return None
    return int((_time(progress.timestamp) - _time(watermark)).total_seconds() * 1000)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
