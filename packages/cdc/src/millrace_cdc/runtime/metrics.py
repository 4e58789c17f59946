"""Metrics of a pipeline and of each of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from millrace.contracts.metrics import Metrics, SourceMetrics
from millrace_cdc.runtime.task_reports import by_reason

if TYPE_CHECKING:
    from millrace_cdc.runtime.progress import PipelineProgress


@dataclass(frozen=True)
class TableMetrics(Metrics):
    """One table of a pipeline's source, since the start of the pipeline.

    Attributes:
        table: Its id.
        num_changes_in: Changes of its rows.
        schema_version: The number of its schema changes since it was found, its creation among them.
        current_event_time_lag: The age of its newest message, by the message's timestamp, in milliseconds; None before
            the first one, and for sources without timestamps.
        is_paused: Whether it is paused.
        num_records_collected: Messages that went to the collector because it is paused.
    """

    table: str
    num_changes_in: int
    schema_version: int
    current_event_time_lag: int | None
    is_paused: bool = False
    num_records_collected: int = 0


@dataclass(frozen=True)
class PipelineMetrics(Metrics):
    """A pipeline, since its start.

    Attributes:
        tables: The tables that had changes, or are paused, by id.
        pending_records: The lag: messages that are yet to be read; None where the source has none, or before the first
            progress.
        num_schema_changes_out: Schema changes that the sink got.
        num_records_in_errors: Malformed messages that were skipped since the first start of the pipeline.
        num_records_skipped: Messages that were skipped because they change nothing, by reason, such as ``heartbeat``.
        sources: The metrics of the topics that it reads; none for other sources, or before the first progress.
    """

    tables: tuple[TableMetrics, ...]
    pending_records: int | None
    num_schema_changes_out: int
    num_records_in_errors: int
    sources: tuple[SourceMetrics, ...] = ()
    num_records_skipped: Mapping[str, int] = field(default_factory=dict)


def pipeline_metrics(
    progress: PipelineProgress, sources: tuple[SourceMetrics, ...], now: datetime | None = None
) -> PipelineMetrics:
    """Return the metrics of a pipeline.

    Args:
        progress: Its progress.
        sources: The metrics of the query's sources.
        now: The time to which lags are measured; by default this moment.
    """
    now = now or datetime.now(UTC)
    tables = []
    for name in sorted({*progress.tables, *progress.paused}):
        table_progress = progress.tables.get(name)
        newest = None if table_progress is None else table_progress.newest
        tables.append(
            TableMetrics(
                name,
                0 if table_progress is None else table_progress.rows,
                0 if table_progress is None else table_progress.version,
                None if newest is None else max(0, int((now - newest).total_seconds() * 1000)),
                name in progress.paused,
                progress.collected[name],
            )
        )
    pending = sum(source.pending_records for source in sources) if sources else None
    skipped = by_reason(progress.skipped)
    return PipelineMetrics(tuple(tables), pending, progress.schema_changes, progress.malformed, sources, skipped)
