from __future__ import annotations

from millrace.sink.write_task import WriteResult
from millrace.spark.writer_base import TaskReport, failed_attempts, task_reports

MESSAGES = [
    TaskReport("q", WriteResult(10, 10), attempt=2),
    TaskReport("q", WriteResult(is_skipped=True)),
    TaskReport("q", WriteResult()),
    None,
]


def test_attempts_before_one_that_ended_well_and_tasks_without_one_have_failed() -> None:
    assert failed_attempts(MESSAGES) == 3
    assert failed_attempts([None, None]) == 2


def test_reports_are_those_of_tasks_that_ended_well() -> None:
    assert task_reports(MESSAGES) == MESSAGES[:3]
