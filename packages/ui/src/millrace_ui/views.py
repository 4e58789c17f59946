"""The JSON that the page shows: all queries in short, and one in full."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from millrace.contracts import QueryReport
from millrace_ui.query_history import MicroBatchFigures, QueryHistory

TREND_SAMPLES = 60
"""The number of samples in the small chart of a query."""

MAX_LINES = 8
"""The number of partitions that get a line of their own: those with the largest lags."""

MAX_CELLS = 2_000
"""The number of partitions in the heat strip."""


def queries_view(histories: Iterable[QueryHistory]) -> list[dict[str, Any]]:
    """Return all queries in short: those that run first, then the newest."""
    ordered = sorted(histories, key=lambda history: (history.report.is_active, history.report.time), reverse=True)
    return [_query(history) for history in ordered]


def query_view(history: QueryHistory) -> dict[str, Any]:
    """Return a query in full: its figures over time, its partitions and its sink."""
    report = history.report
    return {
        **_query(history),
        "samples": [_sample(sample) for sample in history.samples],
        "partitions": [partition.to_dict() for source in report.sources for partition in source.partitions][:MAX_CELLS],
        "lines": _lines(history),
        "sink": None if report.sink is None else {**report.sink.to_dict(), "producers": len(report.sink.producers)},
    }


def _query(history: QueryHistory) -> dict[str, Any]:
    report, samples = history.report, list(history.samples)
    last = samples[-1] if samples else None
    return {
        "id": report.query_id,
        "run": report.run_id,
        "name": report.query,
        "state": state_of(report),
        "error": report.error,
        "time": report.time,
        "batch": report.batch_id,
        "lag": sum(source.pending_records for source in report.sources) if report.sources else None,
        "lagTrend": _trend(samples),
        "rowsIn": report.input_rows_per_second,
        "rowsOut": report.processed_rows_per_second,
        "ageMs": next((sample.age_ms for sample in reversed(samples) if sample.age_ms is not None), None),
        "durationMs": None if last is None else last.phases.get("triggerExecution"),
        "malformed": sum(source.num_records_in_errors for source in report.sources),
        "openTransactions": sum(source.last_stable_offset_lag for source in report.sources),
        "partitionCount": sum(len(source.partitions) for source in report.sources),
        "topics": sorted({partition.topic for source in report.sources for partition in source.partitions}),
        "trend": [[sample.time, sample.lag] for sample in samples[-TREND_SAMPLES:] if sample.lag is not None],
    }


def state_of(report: QueryReport) -> str:
    """Return ``starting``, ``running``, ``stopped`` or ``failed``."""
    if report.error is not None:
        return "failed"
    if not report.is_active:
        return "stopped"
    return "starting" if report.batch_id is None else "running"


def _trend(samples: Sequence[MicroBatchFigures]) -> float | None:
    """Return by how many records a second the lag grew within the last minute of samples."""
    known = [(sample.time, sample.lag) for sample in samples if sample.lag is not None]
    recent = [point for point in known if point[0] >= known[-1][0] - 60] if known else []
    if len(recent) < 2 or recent[-1][0] == recent[0][0]:
        return None
    return (recent[-1][1] - recent[0][1]) / (recent[-1][0] - recent[0][0])


def _sample(sample: MicroBatchFigures) -> dict[str, Any]:
    return {
        "time": sample.time,
        "batch": sample.batch_id,
        "rows": sample.rows,
        "rowsIn": sample.rows_in,
        "rowsOut": sample.rows_out,
        "lag": sample.lag,
        "ageMs": sample.age_ms,
        "phases": dict(sample.phases),
    }


def _lines(history: QueryHistory) -> list[dict[str, Any]]:
    if not history.lags:
        return []
    newest = history.lags[-1][1]
    names = sorted(history.partitions, key=lambda name: -_lag(newest, history.partitions[name]))[:MAX_LINES]
    return [
        {"name": name, "points": [[time, _lag(lags, history.partitions[name])] for time, lags in history.lags]}
        for name in names
    ]


def _lag(lags: array[int], at: int) -> int:
    return lags[at] if at < len(lags) else 0
