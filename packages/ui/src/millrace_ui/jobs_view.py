"""The jobs view: pipelines and SQL statements of this process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from millrace.contracts.jobs import JobDescription
from millrace_ui.query_history import QueryHistory


def jobs_view(jobs: Iterable[JobDescription], histories: Iterable[QueryHistory]) -> list[dict[str, Any]]:
    """Return all jobs, with the lag of their queries."""
    lags = {history.report.query_id: _lag(history) for history in histories}
    return [_job(job, lags) for job in jobs]


def _job(job: JobDescription, lags: dict[str, int | None]) -> dict[str, Any]:
    known = [lag for query in job.query_ids if (lag := lags.get(query)) is not None]
    return {
        "kind": job.kind,
        "name": job.name,
        "queries": list(job.query_ids),
        "state": "running" if job.is_active else "stopped",
        "lag": sum(known) if known else None,
        "tables": [dataclasses.asdict(table) for table in job.tables],
        "schemaChanges": job.schema_changes,
        "malformed": job.malformed,
        "statement": job.statement,
        "plan": job.plan,
    }


def _lag(history: QueryHistory) -> int | None:
    sources = history.report.sources
    return sum(source.pending_records for source in sources) if sources else None
