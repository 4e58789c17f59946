"""Counts of a running pipeline, for metrics, and its description, for pages that show jobs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from millrace.contracts.jobs import JobDescription, JobTable, PipelineCounts
from millrace_cdc.runtime.progress import PipelineProgress, TableProgress

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery


def describe_pipeline(
    query: StreamingQuery, progress: PipelineProgress, kafka: Mapping[str, str], now: datetime | None = None
) -> JobDescription:
    """Describe a pipeline.

    Args:
        query: Its query.
        progress: Its progress.
        kafka: The properties of its source's Kafka client; empty for a source of another kind.
        now: The time to which ages are measured; by default this moment.
    """
    counts = counts_of(progress, now)
    return JobDescription(
        kind="pipeline",
        name=query.name or str(query.id),
        query_ids=(str(query.id),),
        is_active=query.isActive,
        tables=counts.tables,
        schema_changes=counts.schema_changes,
        malformed=counts.malformed,
        # A token provider is no text
        kafka={name: value for name, value in kafka.items() if isinstance(value, str)},
    )


def counts_of(progress: PipelineProgress, now: datetime | None = None) -> PipelineCounts:
    """Return what a pipeline has counted since its start.

    Args:
        progress: Its progress.
        now: The time to which ages are measured; by default this moment.
    """
    now = now or datetime.now(UTC)
    # The query's thread adds tables
    names = sorted({*list(progress.tables), *list(progress.paused)})
    tables = tuple(_table(name, progress, now) for name in names)
    return PipelineCounts(tables, progress.schema_changes, progress.malformed)


def _table(name: str, progress: PipelineProgress, now: datetime) -> JobTable:
    table = progress.tables.get(name, TableProgress())
    return JobTable(
        name=name,
        changes=table.rows,
        schema_version=table.version,
        age_ms=None if table.newest is None else max(0, int((now - table.newest).total_seconds() * 1000)),
        paused=progress.paused.get(name),
        collected=progress.collected[name],
    )
