"""Collect the metrics of writes in the user's process."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Mapping

from millrace.contracts.metrics import OnMetrics, SinkMetrics
from millrace.monitoring.receiver import Receiver
from millrace.monitoring.sink_report import SinkReport
from millrace.options.secrets import Properties

logger = logging.getLogger("millrace.metrics")

MAX_PRODUCERS = 64
"""The number of producers whose statistics are kept: workers come and go."""


class SinkMetricsCollector:
    """Receives reports of a query's writes, or of batch writes. It adds up all writes that share it.

    The driver connects to this process, and both sides prove that they know a secret. If there is no answer, the query
    logs that once and continues without metrics.

    Args:
        host: The address to listen on. The driver's machine must reach it, so the default is no use if this process
            runs on another machine, as a Spark Connect client may.
        port: The port; 0 for any free one.
        on_metrics: Called with ``name`` and the metrics after each micro-batch and each batch write: a function, or the
            method ``on_metrics`` of a `MetricsListener`.
        name: A name for the sink.

    Raises:
        OSError: There is no such address on this machine, or the port is taken.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        on_metrics: OnMetrics | None = None,
        name: str = "sink",
    ) -> None:
        self._lock = threading.Lock()
        self._metrics = SinkMetrics()
        self._on_metrics = on_metrics
        self._name = name
        self._receiver = Receiver(host, port, SinkReport.from_bytes, self._take)

    @property
    def options(self) -> Mapping[str, str]:
        """The options to write with: ``.options(**collector.options)``. Their text does not show the secret."""
        host, port, secret = self._receiver.address
        return Properties({"sink.metrics.address": f"{host}:{port}", "sink.metrics.secret": secret.hex()})

    def metrics(self) -> SinkMetrics:
        """Return the metrics of all micro-batches and batch writes that have ended."""
        with self._lock:
            return self._metrics

    def close(self) -> None:
        """Stop listening; the last metrics remain."""
        self._receiver.close()

    def __enter__(self) -> SinkMetricsCollector:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _take(self, report: SinkReport) -> None:
        with self._lock:
            metrics = self._metrics = add_report(self._metrics, report)
        if self._on_metrics is not None:
            try:
                self._on_metrics(self._name, metrics)
            except Exception:
                # The driver would take it for a lost connection, and send the report again
                logger.exception("on_metrics failed for sink %r", self._name)


def add_report(metrics: SinkMetrics, report: SinkReport) -> SinkMetrics:
    """Add the report of one more micro-batch, or batch write."""
    seconds = max(report.duration_ms, 1) / 1000
    other_producers = {name: producer for name, producer in metrics.producers.items() if name not in report.producers}
    return dataclasses.replace(
        metrics,
        num_records_out=metrics.num_records_out + report.records,
        num_records_out_per_second=round(report.records / seconds, 1),
        num_bytes_out=metrics.num_bytes_out + report.size,
        num_bytes_out_per_second=round(report.size / seconds, 1),
        num_records_send_errors=metrics.num_records_send_errors + report.send_errors,
        current_send_time=metrics.current_send_time if report.send_ms is None else report.send_ms,
        transactions_committed=metrics.transactions_committed + report.committed,
        transactions_aborted=metrics.transactions_aborted + report.aborted,
        transactions_skipped=metrics.transactions_skipped + report.skipped,
        tasks_failed=metrics.tasks_failed + report.tasks_failed,
        producers=dict([*other_producers.items(), *report.producers.items()][-MAX_PRODUCERS:]),
    )
