"""A real SDK of OpenTelemetry receives metrics and spans."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from millrace.contracts import MetricsReporter
from millrace.contracts.metric_declarations import METRICS
from millrace.plugins import METRICS_REPORTER, plugin_manager
from millrace.records.trace_context import EXPECTED
from millrace.testing import MetricsReporterSuite
from millrace_ui.opentelemetry_reporter import OpenTelemetryOptions, OpenTelemetryReporter
from support.query_reports import report, whole_report
from support.spans import exported_spans


class TestOpenTelemetry(MetricsReporterSuite):
    def make_reporter(self) -> MetricsReporter:
        return OpenTelemetryReporter(OpenTelemetryOptions())


class Sdk(NamedTuple):
    reader: InMemoryMetricReader
    spans: InMemorySpanExporter

    def values(self) -> dict[tuple[str, ...], float]:
        data = self.reader.get_metrics_data()
        found = [] if data is None else [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics]
        return {
            (metric.name, *(str(value) for _, value in sorted(point.attributes.items()))): point.value
            for metric in found
            for point in metric.data.data_points
        }


@pytest.fixture(scope="module")
def set_up() -> Sdk:
    """The SDK as a program sets it up, which it can do once."""
    sdk = Sdk(InMemoryMetricReader(), exported_spans())
    metrics.set_meter_provider(MeterProvider([sdk.reader]))
    return sdk


@pytest.fixture
def sdk(set_up: Sdk) -> Sdk:
    set_up.spans.clear()
    return set_up


@pytest.fixture
def reporter(sdk: Sdk) -> Iterator[OpenTelemetryReporter]:
    opened = OpenTelemetryReporter(OpenTelemetryOptions(max_partitions=2, client_metrics=True))
    opened.open()
    yield opened
    opened.close()


def test_it_is_found_by_its_name() -> None:
    assert plugin_manager().load(METRICS_REPORTER, "opentelemetry") is OpenTelemetryReporter


def test_the_sdk_reads_all_declared_metrics(sdk: Sdk, reporter: OpenTelemetryReporter) -> None:
    reporter.report(whole_report())
    values = sdk.values()
    assert {name for name, *_ in values} == {metric.name for metric in METRICS}
    assert values["millrace_source_lag_records", "0", "copy", "orders"] == 1
    assert values["millrace_sink_transactions_total", "committed", "copy"] == 2
    assert values["millrace_micro_batch_duration_seconds", "triggerExecution", "copy"] == 0.1


def test_many_partitions_are_added_up_by_topic(sdk: Sdk, reporter: OpenTelemetryReporter) -> None:
    reporter.report(report(3, 4, 5))
    assert sdk.values()["millrace_source_lag_records", "", "copy", "orders"] == 12


def test_nothing_is_exported_after_the_end(sdk: Sdk, reporter: OpenTelemetryReporter) -> None:
    reporter.report(report(3))
    reporter.close()
    assert sdk.values() == {}


def test_a_micro_batch_is_a_span_with_its_phases(sdk: Sdk, reporter: OpenTelemetryReporter) -> None:
    phases = {"triggerExecution": 100, "commitOffsets": 5, "addBatch": 70, "latestOffset": 20}
    reporter.report(report(batch=None))
    reporter.report(report(3, phases=phases, batch=7))
    reporter.report(dataclasses.replace(report(3, batch=7), has_run=False))
    *children, whole = sdk.spans.get_finished_spans()
    assert (whole.name, whole.parent) == ("micro-batch copy", None)
    assert (whole.attributes["millrace.batch_id"], whole.attributes["millrace.input_rows"]) == (7, 7)
    assert _milliseconds(whole) == (0, 100)
    assert [(child.name, *_milliseconds(child)) for child in children] == [
        ("latestOffset", 0, 20),
        ("addBatch", 20, 90),
        ("commitOffsets", 90, 95),
    ]
    assert {child.parent.span_id for child in children} == {whole.context.span_id}


def test_a_micro_batch_links_to_the_traces_of_its_messages(sdk: Sdk, reporter: OpenTelemetryReporter) -> None:
    reporter.report(report(3, traceparents=(EXPECTED,)))
    *children, whole = sdk.spans.get_finished_spans()
    (link,) = whole.links
    assert (link.context.trace_id, link.context.span_id) == (0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331)
    assert link.context.trace_flags.sampled
    assert all(not child.links for child in children)


def test_links_are_of_spans() -> None:
    with pytest.raises(ValueError, match="option 'max-links' requires 'spans' = 'true'"):
        OpenTelemetryOptions(spans=False, max_links=5)


def test_a_query_that_fails_ends_with_a_span_that_says_why(sdk: Sdk, reporter: OpenTelemetryReporter) -> None:
    reporter.report(report(3, is_active=False, has_run=False, error="the topic is gone"))
    (failed,) = sdk.spans.get_finished_spans()
    assert (failed.status.is_ok, failed.status.description) == (False, "the topic is gone")


def test_spans_can_be_switched_off(sdk: Sdk) -> None:
    reporter = OpenTelemetryReporter(OpenTelemetryOptions(spans=False))
    reporter.open()
    reporter.report(report(3))
    reporter.close()
    assert sdk.spans.get_finished_spans() == ()


def _milliseconds(span: Any) -> tuple[int, int]:
    began = 1_000_000_000_000
    return (span.start_time - began) // 1_000_000, (span.end_time - began) // 1_000_000
