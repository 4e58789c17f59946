from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from millrace.api.followers import FOLLOWERS
from millrace_ui import notebook
from millrace_ui.notebook import INTERVAL_S, LagChart, lag_chart
from support.followed_session import FollowedSession
from support.query_reports import report
from support.waiting import wait_until


@pytest.fixture
def chart() -> Iterator[LagChart]:
    made = LagChart("id-1", "copy")
    yield made
    made.close()


@pytest.fixture
def session() -> FollowedSession:
    return FollowedSession()


def running() -> Any:
    return SimpleNamespace(id="id-1", runId="run-1", name="copy", recentProgress=[], isActive=True)


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


def test_a_query_without_events_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "REDRAW_S", 0.01)
    chart = LagChart("id-1", "copy", [report(3, time=time.time())])
    assert chart.shown["standstill"] is None
    monkeypatch.setattr("millrace_ui.views.STANDSTILL_S", -1.0)
    wait_until(lambda: chart.shown["standstill"] is not None, "the next drawing", interval_s=0.01)
    chart.close()
    assert chart._timer is None
    chart.add(report(4))
    assert (chart._timer, chart.shown["lag"]) == (None, 3)


def test_the_history_is_read_under_the_lock(chart: LagChart, monkeypatch: pytest.MonkeyPatch) -> None:
    read = chart._histories.history
    locked: list[bool] = []

    def history(query_id: str) -> Any:
        other = threading.Thread(target=lambda: locked.append(not chart._lock.acquire(blocking=False)))
        other.start()
        other.join()
        return read(query_id)

    monkeypatch.setattr(chart._histories, "history", history)
    chart.add(report(3))
    assert locked == [True]


def test_a_query_that_had_ended_is_shown_so(session: FollowedSession) -> None:
    query = running()
    query.isActive = False
    query.exception = lambda: RuntimeError("the topic is gone")
    chart = lag_chart(query, session.spark)
    wait_until(lambda: chart.shown["state"] == "failed", "the end", interval_s=0.01)
    assert chart.shown["error"] == "the topic is gone"
    wait_until(lambda: session.is_left, "the listener's removal", interval_s=0.01)


def test_the_end_of_a_query_leaves_its_session_from_another_thread(session: FollowedSession) -> None:
    chart = lag_chart(running(), session.spark)
    assert (len(session.listeners), len(session.settings), FOLLOWERS.count(chart._events)) == (1, 1, 1)
    chart.add(report(3, is_active=False))
    wait_until(lambda: session.is_left, "the listener's removal", interval_s=0.01)
    assert session.left_by is not threading.current_thread()
    wait_until(lambda: not session.settings, "the setting's removal", interval_s=0.01)
    assert chart._events not in FOLLOWERS


def test_a_second_chart_of_a_run_is_the_first_one_until_that_is_closed(session: FollowedSession) -> None:
    query = running()
    chart = lag_chart(query, session.spark)
    assert lag_chart(query, session.spark) is chart
    assert len(session.listeners) == 1
    chart.close()
    assert session.is_left
    second = lag_chart(query, session.spark)
    assert second is not chart
    second.close()


def test_its_script_is_one_module_that_loads_nothing() -> None:
    assert re.findall(r"^\s*(import|export) (?!default)", LagChart._esm, re.MULTILINE) == []
    assert LagChart._esm.count("export default") == 1
    assert re.findall(r"https?://(?!www\.w3\.org|host:)\S+", LagChart._esm + LagChart._css) == []
    assert ":root" not in LagChart._css
