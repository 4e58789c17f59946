"""Metrics as the user sees them, taken from the progress that Spark reports of a query."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from millrace.checkpoint import ReportedOffset, StreamOffset, parse_reported_offset
from millrace.contracts import TopicPartition

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.streaming.listener import StreamingQueryProgress


@dataclass(frozen=True)
class PartitionMetrics:
    """One partition of a source. Times are in milliseconds; None where nothing is known yet.

    Attributes:
        topic: Its topic.
        partition: Its number.
        current_offset: The offset of the record that is read next, after the micro-batch of the progress.
        committed_offset: What the consumer group has committed.
        pending_records: The lag: how many offsets the log went on beyond the current one.
        num_records_in: Records read, before any filter.
        num_bytes_in: Bytes of their values.
        records_skipped: Offsets skipped because they were gone.
        current_fetch_event_time_lag: How old the last record was when it was fetched, by its timestamp.
        current_emit_event_time_lag: How old the last record was when its row was made.
        num_records_in_errors: Records that were skipped because they are malformed.
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


@dataclass(frozen=True)
class SourceMetrics:
    """A source of millrace in a query. Times are in milliseconds; None where nothing is known yet.

    What executors count (records, malformed ones, bytes, event-time lags) is of the micro-batches that had ended when
    that of the progress was planned, since the query was started.

    Attributes:
        partitions: Its partitions, in order.
        pending_records: The lag of all of them.
        num_records_in: Records read, before any filter.
        num_records_in_per_second: The same of the last micro-batch that had ended, by its duration.
        num_bytes_in: Bytes of their values.
        num_bytes_in_per_second: The same of the last micro-batch that had ended, by its duration.
        num_records_in_errors: Records that were skipped because they are malformed.
        records_skipped: Offsets skipped because they were gone.
        commits_succeeded: Commits of the group's offsets.
        commits_failed: Commits of the group's offsets that failed.
        current_fetch_event_time_lag: The largest of the partitions.
        current_emit_event_time_lag: The largest of the partitions.
        watermark_lag: How far the query's watermark is behind the time of the progress.
        source_idle_time: How long nothing had been read.
        missing_reports: How many splits were read whose executors could not tell so; what they counted is missing.
        consumers: What the Kafka clients say of themselves, by client.
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
    consumers: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """All metrics by the names that the reference connectors give them, such as ``pendingRecords``."""
        return camel(dataclasses.asdict(self))


def metrics(query: StreamingQuery) -> tuple[SourceMetrics, ...]:
    """The metrics of a query's millrace sources, as of its last progress; none before the first.

    Args:
        query: A streaming query, of a classic or of a Connect session.
    """
    progress = query.lastProgress
    return () if progress is None else metrics_of(progress)


def metrics_of(progress: StreamingQueryProgress) -> tuple[SourceMetrics, ...]:
    """The metrics of the millrace sources in a progress, as a listener gets it."""
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


def camel(found: dict[str, Any]) -> dict[str, Any]:
    """Metrics by the names that the reference connectors give them."""
    named = {re.sub(r"_(\w)", lambda match: match[1].upper(), name): value for name, value in found.items()}
    return {**named, "partitions": [camel(each) for each in named["partitions"]]} if "partitions" in named else named
