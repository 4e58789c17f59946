from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from millrace_ui.notebook import INTERVAL_S, LagChart
from support.query_reports import report
from support.waiting import wait_until


@pytest.fixture
def chart() -> Iterator[LagChart]:
    made = LagChart("id-1", "copy")
    yield made
    made.close()


def test_a_report_changes_what_is_shown(chart: LagChart) -> None:
    sent: list[Any] = []
    chart.observe(lambda change: sent.append(change["new"]), "shown")
    assert (chart.shown["name"], chart.shown["state"], chart.shown["trend"]) == ("copy", "starting", [])
    chart.add(report(3, 4, time=1000.0))
    assert (chart.shown["state"], chart.shown["lag"], chart.shown["trend"]) == ("running", 7, [[1000.0, 7]])
    assert [line["points"] for line in chart.shown["lines"]] == [[[1000.0, 4]], [[1000.0, 3]]]
    assert sent == [chart.shown]


def test_reports_of_other_queries_change_nothing(chart: LagChart) -> None:
    chart.add(report(3, query_id="id-2"))
    assert chart.shown["state"] == "starting"


def test_short_micro_batches_are_drawn_together_and_the_last_one_is_shown(chart: LagChart) -> None:
    drawn: list[Any] = []
    chart.observe(lambda change: drawn.append(change["new"]["lag"]), "shown")
    for number in range(100):
        chart.add(report(100 - number, batch=number, time=1000.0 + number / 10))
    wait_until(lambda: chart.shown["lag"] == 1, "the last micro-batch", interval_s=INTERVAL_S / 10)
    assert drawn[0] == 100
    assert len(drawn) < 100


def test_a_failure_is_shown(chart: LagChart) -> None:
    chart.add(report(3, is_active=False, error="the topic is gone"))
    assert (chart.shown["state"], chart.shown["error"]) == ("failed", "the topic is gone")


def test_its_script_is_one_module_that_loads_nothing() -> None:
    assert re.findall(r"^\s*(import|export) (?!default)", LagChart._esm, re.MULTILINE) == []
    assert LagChart._esm.count("export default") == 1
    assert re.findall(r"https?://(?!www\.w3\.org|host:)\S+", LagChart._esm + LagChart._css) == []
    assert ":root" not in LagChart._css
