from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from click.testing import CliRunner

from millrace.contracts.metric_declarations import METRICS
from millrace_ui.alert_rules import ALERT_RULES, rules_file
from millrace_ui.grafana import dashboard, expressions
from millrace_ui.monitoring_command import monitoring

DECLARED = {metric.name for metric in METRICS}
LABELS = {metric.name: metric.labels for metric in METRICS}
HOOKS = {"millrace_pipeline_sources", "millrace_pipeline_sinks"}
"""Hooks of plugins, which are named like metrics."""
SOURCES = Path(__file__).parents[3] / "packages"


def undeclared(texts: Iterable[str]) -> set[str]:
    """The names of metrics in texts that no metric is declared by."""
    parts = "source|sink|client|pipeline|query|micro|build"
    names = {name for text in texts for name in re.findall(rf"\bmillrace_(?:{parts})_\w+", text)}
    return names - DECLARED - HOOKS


def test_each_query_of_the_dashboard_names_a_declared_metric() -> None:
    made = list(expressions(dashboard()))
    assert undeclared(made) == set()
    assert all(any(re.search(rf"\b{name}\b", text) for name in DECLARED) for text in made)


def test_each_metric_but_offsets_is_on_the_dashboard() -> None:
    shown = " ".join(expressions(dashboard()))
    missing = {name for name in DECLARED if not re.search(rf"\b{name}\b", shown)}
    assert missing == {"millrace_source_offset", "millrace_source_committed_offset"}


def test_a_query_of_an_unknown_metric_is_refused() -> None:
    made = dashboard()
    made["panels"][1]["targets"][0]["expr"] = "rate(millrace_source_lags_total[5m])"
    assert undeclared(expressions(made)) == {"millrace_source_lags_total"}


def test_each_alert_names_declared_metrics() -> None:
    assert undeclared(rule.expression for rule in ALERT_RULES) == set()
    assert len({rule.name for rule in ALERT_RULES}) == len(ALERT_RULES)


def test_no_package_names_a_metric_that_is_not_declared() -> None:
    texts = (path.read_text() for path in SOURCES.glob("*/src/**/*") if path.suffix in (".py", ".js", ".html"))
    # What the declarations are made of by name and prefix is checked where they are
    assert undeclared(texts) == set()


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        fields = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not fields & taken, panel["title"]
        assert max(x for x, _ in fields) < 24
        taken |= fields


def test_the_command_prints_both() -> None:
    made = CliRunner().invoke(monitoring, ["dashboard"], catch_exceptions=False)
    assert json.loads(made.output) == dashboard()
    assert CliRunner().invoke(monitoring, ["alerts"], catch_exceptions=False).output == rules_file()


def test_the_rules_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    rules = yaml.safe_load(rules_file())["groups"][0]["rules"]
    assert [(rule["alert"], rule["expr"], rule["for"]) for rule in rules] == [
        (rule.name, rule.expression, rule.wait) for rule in ALERT_RULES
    ]


def test_each_query_and_alert_is_promql_with_labels_that_its_metric_has() -> None:
    shown = [text for text in expressions(dashboard()) if not text.startswith("label_values(")]
    for text in [*shown, *(rule.expression for rule in ALERT_RULES)]:
        parsed = promql_parser.parse(text.replace("$__rate_interval", "1m"))
        assert labels_without_declaration(parsed) == set(), text


@pytest.mark.parametrize("text", ['millrace_query_up{topic="a"}', "max by (partition) (millrace_query_up)"])
def test_a_label_that_the_metric_lacks_is_noticed(text: str) -> None:
    assert len(labels_without_declaration(promql_parser.parse(text))) == 1


def labels_without_declaration(query: Any) -> set[str]:
    """The labels that a query names, and its metrics do not have."""
    named, known = set[str](), {"job", "instance"}  # which Prometheus adds

    def visit(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            known.update(LABELS[str(node.name)])
            named.update(matcher.name for matcher in node.matchers.matchers)
        elif isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            named.update(node.modifier.labels)

    promql_parser.walk(query, visit)
    return named - known
