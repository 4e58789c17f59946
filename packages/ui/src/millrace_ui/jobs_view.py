"""The jobs view: pipelines and SQL statements of this process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from millrace.contracts import QueryReport
from millrace.contracts.jobs import JobDescription
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
        "tables": [dataclasses.asdict(table) for table in job.tables],
        "schemaChanges": job.schema_changes,
        "malformed": job.malformed,
        "statement": job.statement,
        "plan": job.plan,
    }
