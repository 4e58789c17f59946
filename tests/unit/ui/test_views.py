from __future__ import annotations

import json

import pytest

from millrace.contracts import QueryReport
from millrace_ui.query_history import Histories
from millrace_ui.views import MAX_LINES, MAX_ROWS, charts_view, queries_view, query_view
from support.query_reports import report


def histories(*reports: QueryReport) -> Histories:
    made = Histories()
    for one in reports:
        made.add(one)
    return made


def test_queries_that_run_come_first() -> None:
    shown = queries_view(
        histories(report(query_id="a", time=3.0, is_active=False), report(query_id="b", time=1.0)).histories(), 4.0
    )
    assert [(query["id"], query["state"]) for query in shown] == [("b", "running"), ("a", "stopped")]


@pytest.mark.parametrize(("lags", "trend"), [((100, 40), -6.0), ((0, 50), 5.0), ((7, 7), 0.0)])
def test_the_trend_is_the_growth_of_the_lag(lags: tuple[int, int], trend: float) -> None:
    before, after = lags
    made = histories(report(before, batch=0, time=0.0), report(after, batch=1, time=10.0))
    shown = queries_view(made.histories(), 10.0)
    assert shown[0]["lagTrend"] == trend


def test_partitions_with_the_largest_lags_get_lines() -> None:
    history = histories(report(*range(20))).history("id-1")
    assert history is not None
    view = query_view(history, 1000.0)
    assert [line["name"] for line in view["lines"]] == [f"orders-{number}" for number in range(19, 19 - MAX_LINES, -1)]
    assert view["partitionCount"] == len(view["partitions"]) == 20
    json.dumps(view)


def test_a_query_before_its_first_micro_batch_is_starting() -> None:
    (shown,) = queries_view(histories(report(batch=None)).histories(), 1000.0)
    assert (shown["state"], shown["lag"], shown["durationMs"], shown["trend"]) == ("starting", None, None, [])


def test_a_query_that_stands_still_says_so_until_it_goes_on() -> None:
    made = histories(report(11, time=1000.0))
    (shown,) = queries_view(made.histories(), 1030.5)
    assert shown["standstill"].startswith("query 'copy' has made no progress for 30 s, and 11 records wait; ask why")
    made.add(report(10, batch=1, time=1031.0))
    assert queries_view(made.histories(), 1032.0)[0]["standstill"] is None


def test_charts_of_many_partitions_have_all_lags_and_the_largest_in_full() -> None:
    history = histories(report(*range(1_000))).history("id-1")
    assert history is not None
    charts, whole = (json.dumps(view(history, 1000.0)) for view in (charts_view, query_view))
    drawn = json.loads(charts)
    assert (len(drawn["lags"]), drawn["lags"][7]) == (1_000, ["orders-7", 7])
    assert [one["partition"] for one in drawn["largest"]] == list(range(999, 999 - MAX_ROWS, -1))
    assert len(charts) * 5 < len(whole)
