"""The package's hook: names and import strings of its metrics reporters."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_metrics_reporters() -> Mapping[str, str]:
    """Return the names to give to `millrace.report_metrics`."""
    return {
        "openlineage": "millrace_ui.openlineage_reporter:OpenLineageReporter",
        "opentelemetry": "millrace_ui.opentelemetry_reporter:OpenTelemetryReporter",
        "prometheus": "millrace_ui.prometheus_reporter:PrometheusReporter",
    }
