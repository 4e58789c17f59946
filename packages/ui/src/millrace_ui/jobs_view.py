"""The jobs view: pipelines and SQL statements of this process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from millrace.contracts import QueryReport
from millrace.contracts.jobs import JobDescription, JobTable
from millrace.contracts.metrics import PartitionMetrics, SourceMetrics
from millrace.options.values import topic_matcher
from millrace_ui.query_history import QueryHistory


def jobs_view(jobs: Iterable[JobDescription], histories: Iterable[QueryHistory]) -> list[dict[str, Any]]:
    """Return all jobs, with the lag and the rows of their queries."""
    reports = {history.report.query_id: history.report for history in histories}
    return [_job(job, [reports[query] for query in job.query_ids if query in reports]) for job in jobs]


def _job(job: JobDescription, reports: Sequence[QueryReport]) -> dict[str, Any]:
    sources = [source for report in reports for source in report.sources]
    sinks = [report.sink for report in reports if report.sink is not None]
    return {
        "kind": job.kind,
        "name": job.name,
        "queries": list(job.query_ids),
        "state": "running" if job.is_active else "stopped",
        "lag": sum(source.pending_records for source in sources) if sources else None,
        "rowsRead": sum(source.num_records_in for source in sources) if sources else None,
        "rowsWritten": sum(sink.num_records_out for sink in sinks) if sinks else None,
        "tables": [_table(table, sources) for table in job.tables],
        "schemaChanges": job.schema_changes,
        "malformed": job.malformed,
        "statement": job.statement,
        "plan": job.plan,
    }


def _table(table: JobTable, sources: Iterable[SourceMetrics]) -> dict[str, Any]:
    """Return a table with its lag and records, of the source that is furthest behind where several read its topics."""
    read = max(filter(None, (_partitions(table, source) for source in sources)), key=_lag, default=None)
    records = None if read is None else sum(one.num_records_in for one in read)
    return {**dataclasses.asdict(table), "lag": None if read is None else _lag(read), "recordsRead": records}


def _partitions(table: JobTable, source: SourceMetrics) -> list[PartitionMetrics]:
    is_read = topic_matcher(table.topic_pattern) if table.topic_pattern else table.topics.__contains__
    return [one for one in source.partitions if is_read(one.topic)]


def _lag(partitions: Iterable[PartitionMetrics]) -> int:
    return sum(one.pending_records for one in partitions)
