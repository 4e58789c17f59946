"""Follow the queries of a session: a report for each of their events."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
)

from millrace.api.followers import FOLLOWERS
from millrace.api.metrics import source_datasets, source_metrics
from millrace.api.progress_listener import ProgressListener
from millrace.api.session_sinks import SessionSinks
from millrace.api.session_traces import SessionTraces
from millrace.contracts.jobs import JOBS, RunningJobs
from millrace.contracts.metrics import QueryReport, SinkMetrics, SourceMetrics
from millrace.failures import sentence_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress

logger = logging.getLogger("millrace.metrics")

MAX_QUERIES = 200
"""The number of queries whose last report is remembered; those that have ended longest ago are forgotten first."""


class QueryEvents(ProgressListener):
    """Make a report of each event of a session's queries, and hand it on.

    Spark calls it between micro-batches, so ``on_report`` must return at once; if it fails, that is logged once.
    Several threads may call it.

    Args:
        on_report: Gets each report.
        max_trace_links: The number of a micro-batch's messages whose traces its report has, at most.
        jobs: The pipelines of this process, whose counts the reports of their queries have.
    """

    def __init__(
        self, on_report: Callable[[QueryReport], None], max_trace_links: int = 0, jobs: RunningJobs = JOBS
    ) -> None:
        self._on_report = on_report
        self._jobs = jobs
        self._last: dict[str, QueryReport] = {}
        self._lock = threading.Lock()
        self._has_failed = False
        self._sinks = SessionSinks(self._on_sink)
        self._traces = SessionTraces(max_trace_links)
        # Runs whose sinks report to a collector of their own, which counts from its beginning
        self._with_collector: set[str] = set()
        self._sessions: list[SparkSession] = []

    def follow(self, spark: SparkSession) -> None:
        """Follow all queries of a session, sinks of those that start from now on, and this process's pipelines."""
        self._sinks.open(spark)
        self._traces.open(spark)
        spark.streams.addListener(self)
        self._sessions.append(spark)
        if self not in FOLLOWERS:
            FOLLOWERS.append(self)

    def leave(self) -> None:
        """Follow nothing any longer. Nothing happens the second time."""
        if self in FOLLOWERS:
            FOLLOWERS.remove(self)
        for spark in self._sessions:
            spark.streams.removeListener(self)
        self._sessions.clear()
        self._sinks.close()
        self._traces.close()

    def _on_sink(self, run: str) -> None:
        last = self._last.get(run)
        if last is not None and last.is_active:
            self._hand_on(dataclasses.replace(last, sink=self._sink(run), has_run=False))

    def _sink(self, run: str) -> SinkMetrics | None:
        last = self._last.get(run)
        if last is not None and run in self._with_collector:
            return last.sink
        return self._sinks.metrics(run)

    def on_metrics(self, name: str, metrics: SourceMetrics | SinkMetrics) -> None:
        """Add a sink's metrics to the report of the running query that has the sink's name."""
        if isinstance(metrics, SinkMetrics):
            with self._lock:
                report = next((last for last in self._last.values() if last.query == name and last.is_active), None)
            if report is not None:
                self._with_collector.add(report.run_id)
                self._hand_on(dataclasses.replace(report, sink=metrics, has_run=False))

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Report a query that starts."""
        name = event.name or str(event.id)
        self._hand_on(QueryReport(name, str(event.id), str(event.runId), seconds_of(event.timestamp)))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """Report a micro-batch, or that there was nothing to read."""
        progress = event.progress
        last = self._last.get(str(progress.runId))
        report = report_of(progress)
        has_run = last is None or last.batch_id != report.batch_id or report.input_rows > 0
        datasets = last.inputs if last and last.inputs and not has_run else source_datasets(progress)
        sink, traces = self._sink(report.run_id), self._traces.take(report.run_id, progress.batchId)
        self._hand_on(dataclasses.replace(report, has_run=has_run, sink=sink, inputs=datasets, traceparents=traces))

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Report that a query is idle."""
        last = self._last.get(str(event.runId))
        if last is not None:
            self._hand_on(dataclasses.replace(last, time=seconds_of(event.timestamp), has_run=False))

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Report that a query has ended, and why."""
        run = str(event.runId)
        last = self._last.get(run) or QueryReport(str(event.id), str(event.id), run, 0.0)
        error = None if event.exception is None else sentence_of(RuntimeError(event.exception))
        now = datetime.now(UTC).timestamp()
        self._hand_on(dataclasses.replace(last, time=now, is_active=False, error=error, has_run=False))

    def _hand_on(self, report: QueryReport) -> None:
        outputs, pipeline = self._sinks.topics(report.run_id), self._jobs.counts(report.query_id)
        report = dataclasses.replace(report, outputs=outputs, pipeline=pipeline)
        with self._lock:
            # An earlier run of the same query is over
            for run in [run for run, last in self._last.items() if last.query_id == report.query_id]:
                del self._last[run]
                if run != report.run_id:
                    self._with_collector.discard(run)
            self._last[report.run_id] = report
            while len(self._last) > MAX_QUERIES:
                ended = (run for run, last in self._last.items() if not last.is_active)
                del self._last[next(ended, next(iter(self._last)))]
        try:
            self._on_report(report)
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                logger.exception("a report of query %r failed; later failures are not logged", report.query)


def reports_of(past: Iterable[StreamingQueryProgress]) -> Iterator[QueryReport]:
    """Yield the reports of a query's past, its ``recentProgress``, where Spark has idle intervals, too."""
    for progress in past:
        report = report_of(progress)
        yield dataclasses.replace(report, has_run="addBatch" in report.phases)


def report_of(progress: StreamingQueryProgress) -> QueryReport:
    """Return the report of a micro-batch."""
    return QueryReport(
        query=progress.name or str(progress.id),
        query_id=str(progress.id),
        run_id=str(progress.runId),
        time=seconds_of(progress.timestamp),
        batch_id=progress.batchId,
        has_run=True,
        input_rows=progress.numInputRows,
        input_rows_per_second=_rate(progress.inputRowsPerSecond),
        processed_rows_per_second=_rate(progress.processedRowsPerSecond),
        phases=dict(progress.durationMs),
        sources=source_metrics(progress),
    )


def seconds_of(timestamp: str) -> float:
    """Return a time of Spark's events in seconds since 1970."""
    return datetime.fromisoformat(timestamp).timestamp()


def _rate(value: float | None) -> float:
    # Spark divides by a duration of 0
    return value if value is not None and 0 <= value < float("inf") else 0.0
