"""Report what the tasks of a write have done to the collector of its metrics."""

from __future__ import annotations

from collections.abc import Sequence

from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.sender import send
from millrace.monitoring.sink_report import SinkReport
from millrace.options.connector import SinkOptions
from millrace.options.values import split_address
from millrace.sink.write_task import WriteResult


def sink_report(results: Sequence[WriteResult], failed_attempts: int, *, is_exactly_once: bool) -> SinkReport:
    """Add up the results of tasks.

    Args:
        results: The results of the tasks that ended well.
        failed_attempts: The number of attempts that failed.
        is_exactly_once: Whether each task writes in a transaction.
    """
    return SinkReport(
        records=sum(result.records for result in results),
        size=sum(result.bytes for result in results),
        send_errors=sum(result.send_errors for result in results),
        send_ms=max((result.send_ms for result in results if result.send_ms is not None), default=None),
        duration_ms=max((result.duration_ms for result in results), default=0),
        tasks_failed=failed_attempts,
        committed=sum(result.rows > 0 for result in results) if is_exactly_once else 0,
        aborted=failed_attempts if is_exactly_once else 0,
        skipped=sum(result.is_skipped for result in results),
        producers={result.producer: result.statistics for result in results if result.producer},
    )


def receivers_of(options: SinkOptions) -> tuple[ReceiverAddress, ...]:
    """Return the address of the sink's collector, if there is one."""
    if options.metrics_address is None or options.metrics_secret is None:
        return ()
    return (ReceiverAddress(*split_address(options.metrics_address), options.metrics_secret),)


def send_sink_report(receivers: Sequence[ReceiverAddress], report: SinkReport) -> None:
    """Send the report of a write; never fails, and waits for 2 seconds at most for each receiver."""
    for receiver in receivers:
        send(receiver, report)
