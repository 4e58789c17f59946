"""Histories of queries: their last reports, and figures over time in bounded memory."""

from __future__ import annotations

import dataclasses
import threading
from array import array
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace.contracts import QueryReport

MAX_SAMPLES = 600
"""The number of micro-batches whose figures are remembered."""

MAX_LAG_SAMPLES = 120
"""The number of micro-batches whose lag is remembered by partition: 1,000 partitions take 1 MB."""

MAX_QUERIES = 100
"""The number of queries that are remembered."""


@dataclass(frozen=True)
class MicroBatchFigures:
    """The figures of a micro-batch.

    Attributes:
        time: When it was reported, in seconds since 1970.
        batch_id: Its number.
        rows: Rows that it read.
        rows_in: Rows that arrived, per second.
        rows_out: Rows that were processed, per second.
        lag: The sum of the partitions' lags, in records; None where the query has no millrace source.
        age_ms: The age of its newest row when the row was built; None where it read none.
        phases: The duration of each phase in milliseconds.
    """

    time: float
    batch_id: int
    rows: int
    rows_in: float
    rows_out: float
    lag: int | None
    age_ms: int | None
    phases: Mapping[str, int]


@dataclass
class QueryHistory:
    """A query's last report, and its figures over time.

    Attributes:
        report: The last report.
        samples: The figures of its newest micro-batches.
        partitions: The names of all its partitions so far, as ``topic-0``; a sample's lags are in this order.
        lags: The lags of all partitions after each of the newest micro-batches.
        progressed_at: When its last micro-batch ended, or it started, in seconds since 1970.
        heard_at: When its last event was, in seconds since 1970.
    """

    report: QueryReport
    samples: deque[MicroBatchFigures] = field(default_factory=lambda: deque(maxlen=MAX_SAMPLES))
    partitions: dict[str, int] = field(default_factory=dict)
    lags: deque[tuple[float, array[int]]] = field(default_factory=lambda: deque(maxlen=MAX_LAG_SAMPLES))
    progressed_at: float = 0.0
    heard_at: float = 0.0

    def add(self, report: QueryReport) -> None:
        """Add a report; its figures count where it tells of a micro-batch."""
        self.report = report
        # Spark reports a micro-batch that has ended with the time when it began
        ended_at = report.time + report.phases.get("triggerExecution", 0) / 1000 if report.has_run else report.time
        self.heard_at = max(self.heard_at, ended_at)
        # A page that is opened while others follow the session may hear first that a query is idle
        if report.has_run or report.batch_id is None or not self.progressed_at:
            self.progressed_at = self.heard_at
        if report.has_run and report.batch_id is not None:
            self.samples.append(_sample(report, report.batch_id))
            self._add_lags(report)

    def _add_lags(self, report: QueryReport) -> None:
        lags = array("q", bytes(8 * len(self.partitions)))
        for source in report.sources:
            for partition in source.partitions:
                name = f"{partition.topic}-{partition.partition}"
                at = self.partitions.setdefault(name, len(self.partitions))
                if at == len(lags):
                    lags.append(0)
                lags[at] += partition.pending_records
        self.lags.append((report.time, lags))


class Histories:
    """The histories of a session's queries. Reports come from Spark's thread, readers from the server's."""

    def __init__(self) -> None:
        self._by_query: dict[str, QueryHistory] = {}
        self._lock = threading.Lock()
        self._version = 0

    @property
    def version(self) -> int:
        """A number that rises with each report."""
        return self._version

    def add(self, report: QueryReport) -> None:
        """Add a report of a query."""
        with self._lock:
            history = self._by_query.get(report.query_id)
            if history is None or history.report.run_id != report.run_id:
                # Counts begin again with each run
                history = self._by_query[report.query_id] = QueryHistory(report)
            history.add(report)
            while len(self._by_query) > MAX_QUERIES:
                ended = (key for key, one in self._by_query.items() if not one.report.is_active)
                del self._by_query[next(ended, next(iter(self._by_query)))]
            self._version += 1

    def reports(self) -> list[QueryReport]:
        """Return the last report of each query, in the order in which they started."""
        with self._lock:
            return [history.report for history in self._by_query.values()]

    def histories(self) -> list[QueryHistory]:
        """Return copies of all histories."""
        with self._lock:
            return [_copy(history) for history in self._by_query.values()]

    def history(self, query_id: str) -> QueryHistory | None:
        """Return a copy of the history of a query; None where it is not known."""
        with self._lock:
            history = self._by_query.get(query_id)
            return None if history is None else _copy(history)


def _copy(history: QueryHistory) -> QueryHistory:
    return dataclasses.replace(
        history, samples=history.samples.copy(), partitions=dict(history.partitions), lags=history.lags.copy()
    )


def _sample(report: QueryReport, batch_id: int) -> MicroBatchFigures:
    ages = [
        source.current_emit_event_time_lag
        for source in report.sources
        if source.current_emit_event_time_lag is not None and report.input_rows
    ]
    return MicroBatchFigures(
        time=report.time,
        batch_id=batch_id,
        rows=report.input_rows,
        rows_in=report.input_rows_per_second,
        rows_out=report.processed_rows_per_second,
        lag=sum(source.pending_records for source in report.sources) if report.sources else None,
        age_ms=min(ages, default=None),
        phases=report.phases,
    )
