"""The line of a query's progress, from what Spark reports of it."""

from __future__ import annotations

from millrace.api.query_progress import QueryProgress


def test_a_query_that_starts_shows_its_state_alone() -> None:
    assert str(QueryProgress("orders", "starting")) == "orders: starting"


def test_a_query_that_runs_shows_rows_rate_and_lag() -> None:
    progress = QueryProgress("orders", "running", batches=3, rows=1200, rows_per_second=1033.6, lag=2500)
    assert str(progress) == "orders: running, 3 micro-batches, 1,200 rows, 1,034 rows/s, lag 2,500"
    assert not progress.has_ended
