"""From what the tasks of a write tell the driver to metrics."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.datasource import WriterCommitMessage

from millrace.monitoring.report import Address
from millrace.monitoring.sender import send
from millrace.monitoring.sink_report import SinkReport
from millrace.options.address import split_address
from millrace.options.connector import SinkOptions
from millrace.spark.writing import TaskMessage


def tell(options: SinkOptions, messages: Sequence[WriterCommitMessage | None]) -> None:
    """Tell whoever listens to metrics what the tasks have done; never fails, and waits for 2 seconds at most.

    Args:
        options: How was written, and who listens.
        messages: What each task says; None for one that did not end well.
    """
    if options.metrics_address is None or options.metrics_secret is None:
        return
    address = Address(*split_address(options.metrics_address), options.metrics_secret)
    send(address, report_of(messages, is_exactly_once=options.is_exactly_once))


def report_of(messages: Sequence[WriterCommitMessage | None], *, is_exactly_once: bool) -> SinkReport:
    """What the tasks have done together.

    Args:
        messages: What each task says; None for one that did not end well.
        is_exactly_once: Whether each task writes in a transaction.
    """
    told = [message for message in messages if isinstance(message, TaskMessage)]
    written = [message.written for message in told]
    failed = len(messages) - len(told) + sum(message.attempt for message in told)
    return SinkReport(
        records=sum(each.records for each in written),
        size=sum(each.bytes for each in written),
        send_errors=sum(each.send_errors for each in written),
        send_ms=max((each.send_ms for each in written if each.send_ms is not None), default=None),
        duration_ms=max((each.duration_ms for each in written), default=0),
        tasks_failed=failed,
        committed=sum(each.rows > 0 for each in written) if is_exactly_once else 0,
        aborted=failed if is_exactly_once else 0,
        skipped=sum(each.is_skipped for each in written),
        producers={each.producer: each.statistics for each in written if each.producer},
    )
