"""Receive the metrics of a stream on the driver, from the executors that read it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container

from millrace.contracts import TopicPartition
from millrace.monitoring.progress import ReadProgress
from millrace.monitoring.receiver import Receiver
from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.split_report import SplitReport
from millrace.monitoring.totals import StreamTotals
from millrace.monitoring.trace_report import TraceForwarder
from millrace.options.values import split_address

logger = logging.getLogger("millrace.monitoring")


class MetricsServer:
    """Add up the executors' reports of what they have read.

    Args:
        address: Where to listen, as ``host`` or ``host:port``; without one executors report nothing.
    """

    def __init__(self, address: str) -> None:
        self._totals = StreamTotals()
        self._traces = TraceForwarder()
        self._receiver = _listen(address, self._take) if address else None

    @property
    def address(self) -> ReceiverAddress | None:
        """The address for executors' reports; None when nobody listens."""
        return self._receiver.address if self._receiver else None

    def close(self) -> None:
        """Accept no more reports."""
        if self._receiver:
            self._receiver.close()
        self._traces.close()

    def begin_batch(self, splits: int) -> int:
        """Begin a micro-batch of so many splits, and return its number."""
        return self._totals.begin_batch(splits if self._receiver else 0)

    def end_batch(self) -> None:
        """Add up the micro-batch that has ended."""
        self._totals.end_batch()

    def mean_value_bytes(self) -> dict[TopicPartition, float]:
        """Return the mean size of the values of each partition of which some were read."""
        return self._totals.mean_value_bytes()

    def progress(self, partitions: Container[TopicPartition]) -> ReadProgress:
        """Return the totals so far, of the partitions that are still there."""
        self._totals.keep_only(partitions)
        return self._totals.progress()

    def _take(self, report: SplitReport) -> bytes:
        if report.traces is not None:
            self._traces.forward(report.traces)
        return self._totals.add_report(report).to_bytes()


def _listen(address: str, on_report: Callable[[SplitReport], bytes]) -> Receiver[SplitReport] | None:
    host, port = split_address(address)
    try:
        return Receiver(host, port, SplitReport.from_bytes, on_report)
    except OSError as error:
        logger.warning(
            "metrics lack what executors read, since the driver cannot listen at %s: %s. Give an address of the "
            "driver's machine by option 'scan.metrics.address'",
            address,
            error,
        )
        return None
