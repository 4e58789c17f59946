"""Alerts on millrace's metrics, as a file of rules for Prometheus."""

from __future__ import annotations

import json
from dataclasses import dataclass

from millrace.contracts.metric_declarations import LAST_PROGRESS, METRICS, QUERY_UP

_NAMES = {metric.name: metric for metric in METRICS}
_BY = "by (job, instance, query)"


@dataclass(frozen=True)
class AlertRule:
    """A rule of Prometheus.

    Attributes:
        name: The name of the alert.
        expression: The query that has values while something is wrong.
        wait: How long it must be so, such as ``5m``.
        severity: ``critical`` or ``warning``.
        summary: One sentence, with labels as ``{{ $labels.query }}``.
    """

    name: str
    expression: str
    wait: str
    severity: str
    summary: str


def _metric(name: str) -> str:
    """Return the name of a metric that is declared."""
    return _NAMES[f"millrace_{name}"].name


def _rose(name: str) -> str:
    return f"sum {_BY} (increase({_metric(name)}[10m])) > 0"


_LAG = f"sum {_BY} ({_metric('source_lag_records')})"

ALERT_RULES = (
    AlertRule(
        "MillraceQueryEnded",
        f"{QUERY_UP.name} == 0",
        "1m",
        "critical",
        "Query {{ $labels.query }} has ended; /healthz and the driver's log say why.",
    ),
    AlertRule(
        "MillraceQueryStandsStill",
        f"max {_BY} (time() - {LAST_PROGRESS.name}) > 300 and {_LAG} > 0",
        "1m",
        "critical",
        "Query {{ $labels.query }} has made no progress for {{ $value | humanizeDuration }} while records wait.",
    ),
    AlertRule(
        "MillraceLagGrows",
        f"sum {_BY} (deriv({_metric('source_lag_records')}[15m])) > 0 and {_LAG} > 10000",
        "15m",
        "warning",
        "Query {{ $labels.query }} falls behind by {{ $value | humanize }} records a second.",
    ),
    AlertRule(
        "MillraceRowsAreLate",
        f"max {_BY} ({_metric('source_lag_seconds')}) > 300 and {_LAG} > 0",
        "10m",
        "warning",
        "The newest rows of query {{ $labels.query }} were {{ $value | humanizeDuration }} old when they were read.",
    ),
    AlertRule(
        "MillraceTransactionStaysOpen",
        f"max {_BY} (min_over_time({_metric('source_stable_lag_records')}[10m])) > 0",
        "5m",
        "warning",
        "Query {{ $labels.query }} waits for an open transaction; millrace.why(query) names its producer.",
    ),
    AlertRule(
        "MillraceMalformedRecords",
        _rose("source_malformed_total"),
        "0m",
        "warning",
        "Query {{ $labels.query }} has skipped {{ $value | humanize }} malformed records in 10 minutes.",
    ),
    AlertRule(
        "MillraceRecordsLost",
        _rose("source_skipped_offsets_total"),
        "0m",
        "critical",
        "Query {{ $labels.query }} has skipped {{ $value | humanize }} offsets whose records were gone.",
    ),
    AlertRule(
        "MillraceTablePaused",
        f"max by (job, instance, query, table) ({_metric('pipeline_table_paused')}) > 0",
        "1m",
        "warning",
        "Table {{ $labels.table }} of pipeline {{ $labels.query }} is paused, and its messages are collected.",
    ),
    AlertRule(
        "MillraceWritesFail",
        f"{_rose('sink_send_errors_total')} or {_rose('sink_failed_tasks_total')}",
        "0m",
        "warning",
        "Writes of query {{ $labels.query }} have failed {{ $value | humanize }} times in 10 minutes.",
    ),
)


def rules_file() -> str:
    """Return the rules in YAML, as ``rule_files`` of Prometheus names them."""
    lines = ["groups:", "  - name: millrace", "    rules:"]
    for rule in ALERT_RULES:
        lines += [
            f"      - alert: {rule.name}",
            f"        expr: {json.dumps(rule.expression)}",
            f"        for: {rule.wait}",
            "        labels:",
            f"          severity: {rule.severity}",
            "        annotations:",
            f"          summary: {json.dumps(rule.summary)}",
        ]
    return "\n".join([*lines, ""])
