"""A Grafana dashboard of all metrics, made from their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from millrace.contracts.metric_declarations import (
    BUILD_INFO,
    CLIENT_METRICS,
    INPUT_RATE,
    LAST_PROGRESS,
    METRICS,
    PARTITION_METRICS,
    PIPELINE_METRICS,
    PROCESSED_RATE,
    QUERY_UP,
    SINK_METRICS,
    SINK_TRANSACTIONS,
    TABLE_METRICS,
    TABLE_PAUSED,
    Metric,
    MetricKind,
)

UID = "millrace"
"""The id of the dashboard: a newer one replaces it."""

_WIDTH, _HEIGHT, _COLUMNS = 8, 8, 24
_DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_UNITS = {"seconds": "s", "bytes": "bytes", "records": "short"}
_RATE_UNITS = {"bytes": "Bps", "records": "cps"}

# Offsets say something only beside others of their partition
_NOT_SHOWN = {metric.name for metric in METRICS if metric.source.endswith("offset")}


def dashboard() -> dict[str, Any]:
    """Return the dashboard, as Grafana imports it."""
    return {
        "uid": UID,
        "title": "millrace",
        "description": "Spark queries on Kafka",
        "tags": ["kafka", "millrace", "spark"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_data_source_variable(), _query_variable()]},
        "panels": list(_panels()),
    }


def expressions(made: dict[str, Any]) -> Iterator[str]:
    """Yield all queries of a dashboard."""
    for panel in made["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    yield from (variable["query"] for variable in made["templating"]["list"] if variable["type"] == "query")


def _panels() -> Iterator[dict[str, Any]]:
    parts = {
        "Sources": PARTITION_METRICS,
        "Sinks": (*SINK_METRICS, SINK_TRANSACTIONS),
        "Pipelines": (*PIPELINE_METRICS, *TABLE_METRICS, TABLE_PAUSED),
        "Kafka clients": CLIENT_METRICS,
    }
    of_parts = {metric.name for metrics in parts.values() for metric in metrics}
    sections = {"Queries": [metric for metric in METRICS if metric.name not in of_parts], **parts}
    top = 0
    for title, metrics in sections.items():
        yield {"type": "row", "title": title, "collapsed": False, "gridPos": _place(0, top, _COLUMNS, 1), "panels": []}
        shown = [metric for metric in metrics if metric.name not in _NOT_SHOWN]
        yield from _section(shown, top + 1)
        top += 1 + _HEIGHT * -(-len(shown) * _WIDTH // _COLUMNS)


def _section(metrics: Iterable[Metric], top: int) -> Iterator[dict[str, Any]]:
    per_row = _COLUMNS // _WIDTH
    for number, metric in enumerate(metrics):
        place = _place(number % per_row * _WIDTH, top + number // per_row * _HEIGHT, _WIDTH, _HEIGHT)
        yield _panel(metric, place)


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _panel(metric: Metric, place: dict[str, int]) -> dict[str, Any]:
    is_state = metric in (QUERY_UP, BUILD_INFO)
    legend = " ".join(f"{{{{{label}}}}}" for label in _shown_labels(metric))
    return {
        "type": "stat" if is_state else "timeseries",
        "title": _title(metric),
        "description": metric.help,
        "datasource": _DATA_SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": _unit(metric), "min": 0}, "overrides": []},
        "targets": [
            {"refId": "A", "datasource": _DATA_SOURCE, "expr": _expression(metric), "legendFormat": legend or "all"}
        ],
    }


def _expression(metric: Metric) -> str:
    selector = '{query=~"$query"}' if "query" in metric.labels else ""
    by = f"by ({', '.join(_shown_labels(metric))})"
    if metric.kind == MetricKind.COUNTER:
        return f"sum {by} (rate({metric.name}{selector}[$__rate_interval]))"
    if metric is LAST_PROGRESS:
        return f"time() - max {by} ({metric.name}{selector})"
    added_up = metric.unit in ("records", "bytes") or metric in (INPUT_RATE, PROCESSED_RATE)
    return f"{'sum' if added_up or metric.source == 'state_keys' else 'max'} {by} ({metric.name}{selector})"


def _shown_labels(metric: Metric) -> list[str]:
    # Thousands of partitions make no lines that anybody can read
    return [label for label in metric.labels if label != "partition"]


def _title(metric: Metric) -> str:
    if metric is LAST_PROGRESS:
        return "seconds since last progress"
    words = metric.name.removeprefix("millrace_").removesuffix("_total").replace("_", " ")
    return f"{words} per second" if metric.kind == MetricKind.COUNTER else words


def _unit(metric: Metric) -> str:
    if metric.kind == MetricKind.COUNTER:
        return _RATE_UNITS.get(metric.unit, "cps")
    return _UNITS.get(metric.unit, "short")


def _data_source_variable() -> dict[str, Any]:
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _query_variable() -> dict[str, Any]:
    return {
        "name": "query",
        "label": "Query",
        "type": "query",
        "datasource": _DATA_SOURCE,
        "query": f"label_values({QUERY_UP.name}, query)",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
