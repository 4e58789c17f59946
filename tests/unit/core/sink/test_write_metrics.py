from __future__ import annotations

from millrace.monitoring.sink_report import SinkReport
from millrace.sink.write_metrics import sink_report
from millrace.sink.write_task import WriteResult


def test_tasks_are_added_up_and_their_times_are_the_longest() -> None:
    results = [
        WriteResult(10, 12, 100, send_errors=1, send_ms=5, duration_ms=50, producer="a", statistics={}),
        WriteResult(5, 5, 60, send_ms=9, duration_ms=20, producer="b", statistics={"tx": 1}),
        WriteResult(),
    ]
    assert sink_report(results, 0, is_exactly_once=False) == SinkReport(
        17, 160, send_errors=1, send_ms=9, duration_ms=50, producers={"a": {}, "b": {"tx": 1}}
    )


def test_with_exactly_once_tasks_are_transactions() -> None:
    results = [WriteResult(10, 10), WriteResult(is_skipped=True), WriteResult()]
    report = sink_report(results, 3, is_exactly_once=True)
    assert (report.committed, report.aborted, report.skipped, report.tasks_failed) == (1, 3, 1, 3)


def test_a_write_whose_tasks_all_failed_took_no_time_that_is_known() -> None:
    assert sink_report([], 2, is_exactly_once=False) == SinkReport(tasks_failed=2)
