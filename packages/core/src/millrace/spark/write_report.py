"""Report the results of tasks to the driver, and from there to the collector of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.datasource import WriterCommitMessage

from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.sender import send
from millrace.monitoring.sink_report import SinkReport
from millrace.options.connector import SinkOptions
from millrace.options.values import split_address
from millrace.sink.write_task import WriteResult


@dataclass
class TaskReport(WriterCommitMessage):
    """The report of a task to the driver.

    Attributes:
        query: Its query.
        result: Its result.
        attempt: The number of attempts before this one.
        run: The run of its query.
    """

    query: str
    result: WriteResult
    attempt: int = 0
    run: str = ""


def task_reports(messages: Sequence[WriterCommitMessage | None]) -> list[TaskReport]:
    """Select the reports among the messages of tasks, which are None for tasks that did not end well."""
    return [message for message in messages if isinstance(message, TaskReport)]


def sink_report(messages: Sequence[WriterCommitMessage | None], *, is_exactly_once: bool) -> SinkReport:
    """Add up the results of tasks.

    Args:
        messages: The message of each task; None for one that did not end well.
        is_exactly_once: Whether each task writes in a transaction.
    """
    reports = task_reports(messages)
    results = [report.result for report in reports]
    failed = len(messages) - len(reports) + sum(report.attempt for report in reports)
    return SinkReport(
        records=sum(result.records for result in results),
        size=sum(result.bytes for result in results),
        send_errors=sum(result.send_errors for result in results),
        send_ms=max((result.send_ms for result in results if result.send_ms is not None), default=None),
        duration_ms=max((result.duration_ms for result in results), default=0),
        tasks_failed=failed,
        committed=sum(result.rows > 0 for result in results) if is_exactly_once else 0,
        aborted=failed if is_exactly_once else 0,
        skipped=sum(result.is_skipped for result in results),
        producers={result.producer: result.statistics for result in results if result.producer},
    )


def send_sink_report(options: SinkOptions, messages: Sequence[WriterCommitMessage | None]) -> None:
    """Send the report of a write to its listener, if there is one; never fails, and waits for 2 seconds at most.

    Args:
        options: Name the listener.
        messages: The message of each task; None for one that did not end well.
    """
    if options.metrics_address is None or options.metrics_secret is None:
        return
    address = ReceiverAddress(*split_address(options.metrics_address), options.metrics_secret)
    send(address, sink_report(messages, is_exactly_once=options.is_exactly_once))
