"""Read a query's metrics from the progress that Spark reports, and its sink's from their collector."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from millrace.checkpoint import ReportedOffset, StreamOffset, parse_reported_offset
from millrace.contracts import TopicPartition
from millrace.contracts.datasets import TopicDataset
from millrace.contracts.metrics import PartitionMetrics, QueryMetrics, SourceMetrics
from millrace.monitoring.progress import GroupProgress, PlanProgress, ReadProgress
from millrace.monitoring.split_report import PartitionCounts

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.streaming.listener import StreamingQueryProgress

    from millrace.api.sink_metrics import SinkMetricsCollector


def metrics(query: StreamingQuery, sink: SinkMetricsCollector | None = None) -> QueryMetrics:
    """Return the metrics of a query's millrace sources, from its last progress report, and of its sink.

    Args:
        query: A streaming query, of a classic or of a Connect session.
        sink: The collector that the query's write was given; without it, the sink's metrics are None.

    Raises:
        TypeError: ``query`` is not a query but, for example, a DataFrame.
    """
    if not hasattr(query, "lastProgress"):
        type_name = type(query).__name__
        raise TypeError(f"metrics expects the query that .writeStream...start() returns; got an object of {type_name}")
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


def source_datasets(progress: StreamingQueryProgress) -> tuple[TopicDataset, ...]:
    """Return the topics that the millrace sources of a progress read."""
    datasets: dict[tuple[str, str], TopicDataset] = {}
    for source in progress.sources:
        latest = parse_reported_offset(source.latestOffset)
        described = latest.metrics.get("dataset", {}) if latest else {}
        for topic in sorted({partition.topic for partition in latest.offset.positions}) if latest else ():
            servers = described.get("servers", "")
            datasets[servers, topic] = TopicDataset(servers, topic, described.get("columns", {}))
    return tuple(datasets.values())


def _source(latest: ReportedOffset, current: StreamOffset, watermark_lag: int | None) -> SourceMetrics:
    read, plan = ReadProgress.from_json(latest.metrics), PlanProgress.from_json(latest.metrics)
    group = plan.group or GroupProgress()
    partitions = tuple(
        _partition(partition, offset, latest.offset, read, plan) for partition, offset in current.positions.items()
    )
    return SourceMetrics(
        partitions=partitions,
        pending_records=sum(partition.pending_records for partition in partitions),
        num_records_in=sum(partition.num_records_in for partition in partitions),
        num_records_in_per_second=read.records_per_second,
        num_bytes_in=sum(partition.num_bytes_in for partition in partitions),
        num_bytes_in_per_second=read.bytes_per_second,
        num_records_in_errors=sum(partition.num_records_in_errors for partition in partitions),
        records_skipped=sum(partition.records_skipped for partition in partitions) + plan.skipped,
        commits_succeeded=group.commits_succeeded,
        commits_failed=group.commits_failed,
        current_fetch_event_time_lag=_largest(partition.current_fetch_event_time_lag for partition in partitions),
        current_emit_event_time_lag=_largest(partition.current_emit_event_time_lag for partition in partitions),
        watermark_lag=watermark_lag,
        source_idle_time=read.idle_ms,
        missing_reports=read.missing,
        consumers=read.clients,
        last_stable_offset_lag=sum(partition.last_stable_offset_lag for partition in partitions),
        state_restores=sum(partition.state_restores for partition in partitions),
        state_keys=_total(partition.state_keys for partition in partitions),
        state_bytes=_total(partition.state_bytes for partition in partitions),
    )


def _partition(
    partition: TopicPartition, offset: int, latest: StreamOffset, read: ReadProgress, plan: PlanProgress
) -> PartitionMetrics:
    counts = read.partitions.get(partition) or PartitionCounts()
    group = plan.group or GroupProgress()
    # As far as the log goes, and as far as it can be read now
    stable = latest.positions.get(partition, offset)
    end = max(stable, plan.high_watermarks.get(partition, stable))
    return PartitionMetrics(
        topic=partition.topic,
        partition=partition.partition,
        current_offset=offset,
        committed_offset=group.committed.get(partition),
        pending_records=max(0, end - offset),
        num_records_in=counts.records,
        num_bytes_in=counts.bytes,
        records_skipped=counts.skipped,
        current_fetch_event_time_lag=counts.fetch_lag_ms,
        current_emit_event_time_lag=counts.emit_lag_ms,
        num_records_in_errors=counts.errors,
        state_restores=counts.restores,
        state_keys=counts.state_keys,
        state_bytes=counts.state_bytes,
        last_stable_offset_lag=end - stable,
    )


def _largest(values: Any) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _total(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _watermark_lag(progress: StreamingQueryProgress) -> int | None:
    watermark = progress.eventTime.get("watermark")
    if watermark is None or watermark.startswith("1970-01-01T00:00:00"):
        return None
    return int((_time(progress.timestamp) - _time(watermark)).total_seconds() * 1000)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
