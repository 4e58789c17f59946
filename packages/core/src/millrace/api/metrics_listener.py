"""Listen to the metrics of all queries of a session."""

from __future__ import annotations

import json
import logging

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
)

from millrace.api.metrics import source_metrics
from millrace.api.progress_listener import ProgressListener
from millrace.contracts.metrics import OnMetrics, SinkMetrics, SourceMetrics

logger = logging.getLogger("millrace.metrics")


class MetricsListener(ProgressListener):
    """Report the metrics of all millrace sources at each progress of their query, and the metrics of sinks.

    Add it by ``spark.streams.addListener(...)``, in a classic or a Connect session, and give its
    method `on_metrics` to each `SinkMetricsCollector` whose metrics it should report.

    Args:
        on_metrics: Called with the query's name (or its id, when it has no name) and the metrics of one source, or with
            a collector's name and the metrics of its sink. By default they are logged as JSON, by the logger
            ``millrace.metrics`` at level INFO.
    """

    def __init__(self, on_metrics: OnMetrics | None = None) -> None:
        self._on_metrics = on_metrics or _log

    def on_metrics(self, name: str, metrics: SourceMetrics | SinkMetrics) -> None:
        """Report the metrics of one source or sink."""
        self._on_metrics(name, metrics)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore that a query starts."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """Report the metrics of the query's sources after a micro-batch."""
        progress = event.progress
        for metrics in source_metrics(progress):
            self.on_metrics(progress.name or str(progress.id), metrics)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore that a query is idle: Spark sends no progress."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Ignore that a query has ended."""


def _log(name: str, metrics: SourceMetrics | SinkMetrics) -> None:
    logger.info("%s %s", name, json.dumps(metrics.to_dict()))
