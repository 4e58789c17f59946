"""The JSON that the page shows: all queries in short, the charts of one, and one in full."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from millrace.contracts import QueryReport
from millrace.contracts.metrics import PartitionMetrics
from millrace_ui.health import standstill_of
from millrace_ui.query_history import MAX_LAG_SAMPLES, MicroBatchFigures, QueryHistory

STANDSTILL_S = 20.0
"""The seconds without progress after which the page asks why a query with something to read stands still."""

TREND_SAMPLES = 60
"""The number of samples in the small chart of a query."""

MAX_LINES = 8
"""The number of partitions that get a line of their own: those with the largest lags."""

MAX_CELLS = 2_000
"""The number of partitions in the heat strip."""

MAX_ROWS = 50
"""The number of partitions in the table: those with the largest lags."""


def queries_view(histories: Iterable[QueryHistory], now: float) -> list[dict[str, Any]]:
    """Return all queries in short: those that run first, then the newest.

    Args:
        histories: Their histories.
        now: The time in seconds since 1970.
    """
    ordered = sorted(histories, key=lambda history: (history.report.is_active, history.report.time), reverse=True)
    return [_query(history, now) for history in ordered]


def query_view(history: QueryHistory, now: float) -> dict[str, Any]:
    """Return a query in full: its figures over time, its partitions and its sink."""
    return {
        **_query(history, now),
        "samples": [_sample(sample) for sample in history.samples],
        "partitions": [partition.to_dict() for partition in _partitions(history)],
        "lines": _lines(history),
        "sink": _sink(history.report),
        "pipeline": _pipeline(history.report),
    }


def charts_view(history: QueryHistory, now: float) -> dict[str, Any]:
    """Return what the page draws of a query after each report: of 1,000 partitions, a sixth of the query in full."""
    partitions = _partitions(history)
    return {
        **_query(history, now),
        "samples": [_sample(sample) for sample in list(history.samples)[-MAX_LAG_SAMPLES:]],
        "lags": [[f"{one.topic}-{one.partition}", one.pending_records] for one in partitions[:MAX_CELLS]],
        "largest": [one.to_dict() for one in heapq.nlargest(MAX_ROWS, partitions, key=lambda one: one.pending_records)],
        "lines": _lines(history),
        "sink": _sink(history.report),
        "pipeline": _pipeline(history.report),
    }


def lag_view(history: QueryHistory, now: float) -> dict[str, Any]:
    """Return what a notebook draws of a query: its lag, and that of its partitions with the largest."""
    return {**_query(history, now), "lines": _lines(history)}


def _query(history: QueryHistory, now: float) -> dict[str, Any]:
    report, samples = history.report, list(history.samples)
    last = samples[-1] if samples else None
    return {
        "id": report.query_id,
        "run": report.run_id,
        "name": report.query,
        "state": state_of(report),
        "error": report.error,
        "standstill": standstill_of(history, now, STANDSTILL_S) or None,
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


def _partitions(history: QueryHistory) -> list[PartitionMetrics]:
    return [partition for source in history.report.sources for partition in source.partitions]


def _sink(report: QueryReport) -> dict[str, Any] | None:
    return None if report.sink is None else {**report.sink.to_dict(), "producers": len(report.sink.producers)}


def _pipeline(report: QueryReport) -> dict[str, Any] | None:
    if report.pipeline is None:
        return None
    versions = [[table.name, table.schema_version] for table in report.pipeline.tables]
    return {"schemaChanges": report.pipeline.schema_changes, "schemaVersions": versions}


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
    names = heapq.nlargest(MAX_LINES, history.partitions, key=lambda name: _lag(newest, history.partitions[name]))
    return [
        {"name": name, "points": [[time, _lag(lags, history.partitions[name])] for time, lags in history.lags]}
        for name in names
    ]


def _lag(lags: array[int], at: int) -> int:
    return lags[at] if at < len(lags) else 0
