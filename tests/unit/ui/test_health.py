from __future__ import annotations

import pytest

from millrace.contracts import QueryReport
from millrace_ui.health import health_of
from support.query_reports import report


@pytest.mark.parametrize(
    ("last", "now"),
    [
        (report(0, time=1000.0), 9000.0),
        (report(5, time=1000.0), 1050.0),
        (report(5, time=1000.0, is_active=False), 9000.0),
        (report(time=1000.0), 9000.0),
    ],
    ids=["nothing to read", "lately", "stopped", "no source of ours"],
)
def test_it_is_well(last: QueryReport, now: float) -> None:
    running = "1 query runs" if last.is_active else "0 queries run"
    assert health_of([last], now, 60) == (True, running)


def test_a_query_that_has_failed_is_told() -> None:
    failed = report(1, is_active=False, error="topic 'orders' does not exist")
    assert health_of([failed], 1000.0, 60) == (False, "query 'copy' has ended: topic 'orders' does not exist")


def test_a_query_that_stands_still_is_told() -> None:
    health = health_of([report(5, 6, time=1000.0)], 1061.0, 60)
    assert health == (
        False,
        "query 'copy' has made no progress for 61 s, and 11 records wait; ask why it stands still with "
        "millrace.why(query)",
    )
