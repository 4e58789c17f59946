"""Follow the queries of sessions: a report for each of their events."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from millrace.api.followers import FOLLOWERS
from millrace.api.session_events import SESSIONS, FollowedSessions
from millrace.api.session_traces import SessionTraces
from millrace.contracts.metrics import QueryReport, SinkMetrics, SourceMetrics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger("millrace.metrics")


class QueryEvents:
    """The reports of sessions' queries for one that follows them, such as a page, a reporter or a chart.

    All that follow a session share its one listener. ``on_report`` must return at once, as Spark waits for it between
    micro-batches; if it fails, that is logged once, and the others get their reports all the same.

    Args:
        on_report: Gets each report. Several threads may call it.
        max_trace_links: The number of a micro-batch's messages whose traces its report has, at most.
        on_end: Called when a followed session has been stopped; by default nothing is followed any longer.
        sessions: The followed sessions of this process.
    """

    def __init__(
        self,
        on_report: Callable[[QueryReport], None],
        max_trace_links: int = 0,
        on_end: Callable[[], None] | None = None,
        sessions: FollowedSessions = SESSIONS,
    ) -> None:
        self._on_report = on_report
        self._on_end = on_end or self.leave
        self._sessions = sessions
        self._traces = SessionTraces(max_trace_links)
        self._has_failed = False

    def follow(self, spark: SparkSession) -> None:
        """Follow all queries of a session, sinks of those that start from now on, and this process's pipelines."""
        self._traces.open(spark)
        self._sessions.follow(spark, self)
        if self not in FOLLOWERS:
            FOLLOWERS.append(self)

    def leave(self) -> None:
        """Follow nothing any longer. Nothing happens the second time."""
        if self in FOLLOWERS:
            FOLLOWERS.remove(self)
        self._sessions.leave(self)
        self._traces.close()

    def on_metrics(self, name: str, metrics: SourceMetrics | SinkMetrics) -> None:
        """Add a sink's metrics to the report of the running query that has the sink's name."""
        self._sessions.on_metrics(self, name, metrics)

    def session_ended(self) -> None:
        """Say that a followed session has been stopped."""
        try:
            self._on_end()
        except Exception:
            logger.exception("what followed a session could not be closed with it")

    def receive(self, report: QueryReport) -> None:
        """Hand a report on, with the traces of its micro-batch."""
        if report.has_run and report.batch_id is not None:
            traces = self._traces.take(report.run_id, report.batch_id)
            report = dataclasses.replace(report, traceparents=traces) if traces else report
        try:
            self._on_report(report)
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                logger.exception("a report of query %r failed; later failures are not logged", report.query)
