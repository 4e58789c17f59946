"""The conformance suite for metrics reporters."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import dataclasses
import time
from abc import abstractmethod

from millrace.contracts import MetricsReporter, QueryReport
from millrace.contracts.metrics import PartitionMetrics, SinkMetrics, SourceMetrics
from millrace.testing.plugin_options import PluginOptionsSuite

MAX_SECONDS = 0.001
"""The processor time that a report may take in the mean; Spark waits for each."""


class MetricsReporterSuite(PluginOptionsSuite):
    """Tests that a metrics reporter keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override one member::

        class TestStatsd(MetricsReporterSuite):
            def make_reporter(self):
                return Statsd(StatsdOptions(host="127.0.0.1"))

    Rules that the tests check:

    - Reports of queries that start, run, are idle and end are taken, in any order, with and without sources and a sink.
    - A report takes a millisecond of processor time, not more: Spark calls reporters between micro-batches.
    - A reporter that was closed can be closed again.
    """

    @abstractmethod
    def make_reporter(self) -> MetricsReporter:
        """Make a new reporter with valid options that several tests can use one after the other, such as port 0."""

    def make_plugin(self) -> MetricsReporter:
        return self.make_reporter()

    def test_is_a_metrics_reporter(self) -> None:
        assert isinstance(self.make_reporter(), MetricsReporter), "subclass millrace.contracts.MetricsReporter"

    def test_takes_all_reports(self) -> None:
        reporter = self.make_reporter()
        reporter.open()
        try:
            for report in example_reports():
                reporter.report(report)
        finally:
            reporter.close()

    def test_reports_at_once(self) -> None:
        reporter = self.make_reporter()
        reporter.open()
        try:
            started = time.process_time()
            for number in range(1_000):
                reporter.report(dataclasses.replace(example_reports()[1], batch_id=number))
            assert time.process_time() - started < 1_000 * MAX_SECONDS, "keep reports, or hand them to a thread"
        finally:
            reporter.close()

    def test_can_be_closed_twice(self) -> None:
        reporter = self.make_reporter()
        reporter.open()
        reporter.close()
        reporter.close()


def example_reports() -> list[QueryReport]:
    """Return reports of a query: its start, a micro-batch, an idle interval, and its end by a failure."""
    partition = PartitionMetrics("orders", 0, 12, 10, 3, 12, 340, 0, 20, 25, 1, 0, 0, None, None)
    source = SourceMetrics((partition,), 3, 12, 6.0, 340, 170.0, 1, 0, 1, 0, 20, 25, None, 0, 0, {})
    started = QueryReport("copy", "id", "run", 1_000.0)
    ran = dataclasses.replace(
        started,
        time=1_001.0,
        batch_id=0,
        has_run=True,
        input_rows=12,
        phases={"triggerExecution": 150, "addBatch": 120},
        sources=(source,),
        sink=SinkMetrics(num_records_out=12),
    )
    idle = dataclasses.replace(ran, time=1_011.0, has_run=False)
    return [started, ran, idle, dataclasses.replace(idle, is_active=False, error="the topic is gone")]
