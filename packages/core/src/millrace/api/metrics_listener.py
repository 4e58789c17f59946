"""Metrics of all queries of a session, as they make progress."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from millrace.api.metrics import SourceMetrics, metrics_of

logger = logging.getLogger("millrace.metrics")

OnMetrics = Callable[[str, SourceMetrics], None]


class MetricsListener(StreamingQueryListener):
    """Hands on the metrics of every millrace source, with each progress of its query.

    To be added by ``spark.streams.addListener(...)``, in a classic or a Connect session.

    Args:
        on_metrics: Called with the query's name (or its id, when it has no name) and the metrics of one source; by
            default they are logged, as JSON, by the logger ``millrace.metrics`` at level INFO.
    """

    def __init__(self, on_metrics: OnMetrics | None = None) -> None:
        self._on_metrics = on_metrics or _log

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing to do."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802 - Spark's name
        """A micro-batch has ended."""
        progress = event.progress
        for source in metrics_of(progress):
            self._on_metrics(progress.name or str(progress.id), source)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing to do: Spark tells no progress with it."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802 - Spark's name
        """Nothing to do."""


def _log(query: str, source: SourceMetrics) -> None:
    logger.info("%s %s", query, json.dumps(source.to_dict()))
