"""The page on monitoring names every metric that is declared, by its own sentence."""

from __future__ import annotations

import re
from pathlib import Path

from millrace.contracts.metric_declarations import CLIENT_METRICS, METRICS
from millrace.options import options_of
from millrace_ui.prometheus_reporter import PrometheusOptions

PAGE = (Path(__file__).parents[2] / "docs/monitoring.md").read_text()


def test_each_metric_stands_on_the_page() -> None:
    rows = re.findall(r"^\| `(millrace_\w+)` \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(metric.name, ", ".join(metric.labels), metric.help) for metric in METRICS]


def test_each_metric_of_java_clients_on_the_page_is_declared() -> None:
    (table,) = re.findall(r"^\| metric of the Java client \|.*\n(?:\|.*\n)+", PAGE, re.MULTILINE)
    names = {name for row in table.splitlines()[2:] for name in re.findall("`(.+?)`", row.split("|")[1])}
    assert names == {metric.source for metric in CLIENT_METRICS}


def test_names_are_prometheus_names() -> None:
    for metric in METRICS:
        assert (metric.kind == "counter") == metric.name.endswith("_total"), metric.name
        assert metric.unit in ("", "bytes", "records", "seconds"), metric.name
        assert metric.help.endswith("."), metric.name


def test_each_option_of_the_reporter_stands_on_the_page() -> None:
    documented = {
        name for row in re.findall(r"^\| (`[a-z`, -]+) \|", PAGE, re.MULTILINE) for name in re.findall("`(.+?)`", row)
    }
    assert {info.name for info in options_of(PrometheusOptions).values()} <= documented
