"""Send the metrics of a session's queries out of the driver, by plugins."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from millrace.api.query_events import QueryEvents
from millrace.contracts.metrics_reporter import MetricsReporter
from millrace.options.parser import OptionParser
from millrace.plugins import METRICS_REPORTER, plugin_manager

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace.contracts.metrics import OnMetrics


class MetricsReport:
    """A reporter that gets the metrics of all queries of a session, until it is closed, or the session or program ends.

    Attributes:
        reporter: The plugin, such as to ask for the port that it has taken.
    """

    def __init__(self, spark: SparkSession, reporter: MetricsReporter) -> None:
        self.reporter = reporter
        self._events = QueryEvents(reporter.report, reporter.max_trace_links, self.close)
        reporter.open()
        self._events.follow(spark)
        # Registered after PySpark's own, and so called before Java ends
        atexit.register(self._close_at_exit)

    @property
    def on_metrics(self) -> OnMetrics:
        """The function to give to a `SinkMetricsCollector` that has the name of its query."""
        return self._events.on_metrics

    def close(self) -> None:
        """Stop reporting. Nothing happens the second time."""
        atexit.unregister(self._close_at_exit)
        try:
            self._events.leave()
        finally:
            self.reporter.close()

    def _close_at_exit(self) -> None:
        # Java may have ended first, so that nothing is left to follow
        with suppress(Exception):
            self.close()

    def __enter__(self) -> MetricsReport:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def report_metrics(
    spark: SparkSession, reporter: str = "prometheus", options: Mapping[str, str] | None = None
) -> MetricsReport:
    """Report the metrics of all queries of a session, of those that run and those that will start.

    Args:
        spark: The session, a classic or a Connect one. The reporter runs in this process.
        reporter: The name of an installed plugin, or its class as ``module:Class``.
        options: Its options, as texts.

    Raises:
        OptionsError: An option is wrong or unknown.
        PluginError: No installed package offers the reporter, or it cannot be used.
        MachineError: The reporter lacks a library.

    Example::

        with millrace.report_metrics(spark, "prometheus", {"port": "9464"}):
            query.awaitTermination()
    """
    plugin = plugin_manager().load(METRICS_REPORTER, reporter)
    parser = OptionParser(f"metrics reporter {reporter!r}", options or {})
    parsed = parser.take(plugin.Options)
    parser.finish()
    return MetricsReport(spark, plugin(parsed))
