from __future__ import annotations

import time
import urllib.request

from millrace.contracts import MetricsReporter
from millrace.plugins import METRICS_REPORTER, plugin_manager
from millrace.testing import MetricsReporterSuite
from millrace_ui.prometheus_reporter import PrometheusOptions, PrometheusReporter
from support.query_reports import report


class TestPrometheus(MetricsReporterSuite):
    def make_reporter(self) -> MetricsReporter:
        return PrometheusReporter(PrometheusOptions(port=0))


def test_it_is_found_by_its_name() -> None:
    assert plugin_manager().load(METRICS_REPORTER, "prometheus") is PrometheusReporter


def test_it_serves_metrics_and_health() -> None:
    reporter = PrometheusReporter(PrometheusOptions(port=0))
    reporter.open()
    try:
        reporter.report(report(5, time=time.time()))
        metrics = urllib.request.urlopen(reporter.url, timeout=20).read().decode()
        assert 'millrace_source_lag_records{partition="0",query="copy",topic="orders"} 5.0' in metrics
        health = urllib.request.urlopen(reporter.url.replace("metrics", "healthz"), timeout=20)
        assert health.read() == b"1 query runs\n"
    finally:
        reporter.close()
