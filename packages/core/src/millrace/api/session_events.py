"""The events of a session's queries: one listener makes a report of each, for all that follow the session."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
)

from millrace.api.metrics import source_datasets, source_metrics
from millrace.api.progress_listener import ProgressListener
from millrace.api.session_sinks import SessionSinks
from millrace.contracts.jobs import JOBS, RunningJobs
from millrace.contracts.metrics import QueryReport, SinkMetrics, SourceMetrics
from millrace.failures import sentence_of
from millrace.pyspark_internals import is_stopped, session_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import StreamingQueryProgress

MAX_QUERIES = 200
"""The number of queries whose last report is remembered; those that have ended longest ago are forgotten first."""


class ReportReceiver(Protocol):
    """Gets the reports of sessions' queries."""

    def receive(self, report: QueryReport) -> None:
        """Get a report. Spark waits between micro-batches until this returns; several threads may call it."""

    def session_ended(self) -> None:
        """Stop following: the session has been stopped."""


class SessionEvents(ProgressListener):
    """Make a report of each event of a session's queries, and hand it to all that follow the session.

    Pages, reporters and charts share it: Spark calls one listener, a progress is parsed once, and sinks report to one
    address, whatever the number of followers.

    Args:
        jobs: The pipelines of this process, whose counts the reports of their queries have.

    Attributes:
        followers: Those that get the reports.
    """

    def __init__(self, jobs: RunningJobs = JOBS) -> None:
        self.followers: tuple[ReportReceiver, ...] = ()
        self._jobs = jobs
        self._last: dict[str, QueryReport] = {}
        self._lock = threading.Lock()
        self._sinks = SessionSinks(self._on_sink)
        # Runs whose sinks report to a collector of their own, which counts from its beginning
        self._with_collector: set[str] = set()
        self._session: SparkSession | None = None

    def open(self, spark: SparkSession) -> None:
        """Listen to all queries of a session, and to sinks of those that start from now on; once only."""
        if self._session is None:
            self._sinks.open(spark)
            spark.streams.addListener(self)
            self._session = spark

    def close(self) -> None:
        """Listen no longer. Nothing happens the second time."""
        spark, self._session = self._session, None
        if spark is not None:
            try:
                if not is_stopped(spark):
                    spark.streams.removeListener(self)
            finally:
                self._sinks.close()

    def end_if_stopped(self) -> None:
        """Report the end of all queries where the session has been stopped, which sends no events."""
        if self._session is None or not is_stopped(self._session):
            return
        now = datetime.now(UTC).timestamp()
        with self._lock:
            active = [last for last in self._last.values() if last.is_active]
        for last in active:
            self._hand_on(dataclasses.replace(last, time=now, is_active=False, has_run=False))
        for follower in self.followers:
            follower.session_ended()

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
        self._hand_on(dataclasses.replace(report, has_run=has_run, sink=self._sink(report.run_id), inputs=datasets))

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
        for follower in self.followers:
            follower.receive(report)


class FollowedSessions:
    """The sessions of this process whose queries somebody follows, each with its one listener.

    Args:
        interval_s: The seconds between two looks whether a session has been stopped, of which Spark tells nobody.
    """

    def __init__(self, interval_s: float = 1.0) -> None:
        self._interval_s = interval_s
        self._by_session: dict[str, SessionEvents] = {}
        self._watcher: threading.Thread | None = None
        # The garbage collector may end a follower at any moment, also in a thread that holds the lock
        self._lock = threading.RLock()

    def follow(self, spark: SparkSession, follower: ReportReceiver) -> None:
        """Hand the reports of a session's queries to one more follower, from their next event on."""
        key = session_id(spark)
        with self._lock:
            events = self._by_session.get(key) or SessionEvents()
            if follower not in events.followers:
                events.followers = (*events.followers, follower)
            self._by_session[key] = events
            events.open(spark)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="millrace-sessions", daemon=True)
                self._watcher.start()

    def leave(self, follower: ReportReceiver) -> None:
        """Hand no more reports to a follower; a session that nobody follows any longer loses its listener."""
        # Closed without the lock: Spark Connect waits there for a listener that is being called
        with ExitStack() as closing, self._lock:
            for key, events in list(self._by_session.items()):
                events.followers = tuple(other for other in events.followers if other is not follower)
                if not events.followers:
                    self._by_session.pop(key, None)
                    closing.callback(events.close)

    def on_metrics(self, follower: ReportReceiver, name: str, metrics: SourceMetrics | SinkMetrics) -> None:
        """Add a sink's metrics to the report of the query that has its name, in the sessions of a follower."""
        for events in list(self._by_session.values()):
            if follower in events.followers:
                events.on_metrics(name, metrics)

    def _watch(self) -> None:
        while True:
            time.sleep(self._interval_s)
            with self._lock:
                followed = list(self._by_session.values())
                if not followed:
                    self._watcher = None
                    return
            for events in followed:
                events.end_if_stopped()


SESSIONS = FollowedSessions()
"""The followed sessions of this process."""


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
