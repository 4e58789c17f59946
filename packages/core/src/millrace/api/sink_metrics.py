"""Metrics of writes, in the user's process."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from millrace.api.metrics import camel
from millrace.monitoring.receiver import Receiver
from millrace.monitoring.sink_report import SinkReport
from millrace.options.secrets import Properties

PRODUCERS = 64
"""How many producers are remembered: workers come and go."""


@dataclass(frozen=True)
class SinkSnapshot:
    """What was written since a `SinkMetrics` was made.

    Rates and `current_send_time` are of the last micro-batch (or batch write) that ended. A rate is its records, or
    bytes, by the time that its longest task took, in which the query's own work is included.

    Attributes:
        num_records_out: Records written. A micro-batch that is repeated counts with what it really writes.
        num_records_out_per_second: Its rate.
        num_bytes_out: Bytes of their keys and values, before compression.
        num_bytes_out_per_second: Its rate.
        num_records_send_errors: Records whose delivery failed without failing their task, as happens with guarantee
            none; a failure that comes after the end of a task is counted with a later task of the same worker. Other
            guarantees fail the task instead.
        current_send_time: How long, in ms, the brokers took at the end of a task to acknowledge what it had handed
            over: the longest of the tasks. None before the first, and with guarantee none.
        transactions_committed: Tasks that committed a transaction; those without rows open none.
        transactions_aborted: With exactly-once, the same as `tasks_failed`: a failed attempt's transaction is aborted,
            by itself or by the next attempt.
        transactions_skipped: Tasks whose rows were in the topic already, as those of a micro-batch that is repeated.
        tasks_failed: Attempts of tasks that failed, as far as the driver knows: those before the attempt that
            succeeded (which include one that was replaced by a speculative one), and, of a write that failed, one for
            each task that did not end well, also where it was only cancelled. Their records are not counted.
        producers: What the Kafka producers say of themselves, by their names; empty with ``register.producer.metrics``
            = false.
    """

    num_records_out: int = 0
    num_records_out_per_second: float = 0.0
    num_bytes_out: int = 0
    num_bytes_out_per_second: float = 0.0
    num_records_send_errors: int = 0
    current_send_time: int | None = None
    transactions_committed: int = 0
    transactions_aborted: int = 0
    transactions_skipped: int = 0
    tasks_failed: int = 0
    producers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def plus(self, report: SinkReport) -> SinkSnapshot:
        """The same after one more micro-batch."""
        seconds = max(report.duration_ms, 1) / 1000
        others = {name: said for name, said in self.producers.items() if name not in report.producers}
        return SinkSnapshot(
            num_records_out=self.num_records_out + report.records,
            num_records_out_per_second=round(report.records / seconds, 1),
            num_bytes_out=self.num_bytes_out + report.size,
            num_bytes_out_per_second=round(report.size / seconds, 1),
            num_records_send_errors=self.num_records_send_errors + report.send_errors,
            current_send_time=self.current_send_time if report.send_ms is None else report.send_ms,
            transactions_committed=self.transactions_committed + report.committed,
            transactions_aborted=self.transactions_aborted + report.aborted,
            transactions_skipped=self.transactions_skipped + report.skipped,
            tasks_failed=self.tasks_failed + report.tasks_failed,
            producers=dict([*others.items(), *report.producers.items()][-PRODUCERS:]),
        )

    def to_dict(self) -> dict[str, Any]:
        """All metrics by the names that the reference connectors give them, such as ``numRecordsOut``."""
        return camel(dataclasses.asdict(self))


class SinkMetrics:
    """Listens to what a query, or a batch write, tells of its writes; make one for each, or they are added up.

    The driver's machine connects to this process, with a secret that is made anew each time. Where nobody listens any
    more, the query says so once in its log and goes on.

    Args:
        host: The address to listen on. The driver's machine must reach it by the same, so that another one than the
            default is needed where this process runs elsewhere, as that of a Spark Connect client.
        port: The port; 0 for any free one.

    Raises:
        OSError: There is no such address on this machine, or the port is taken.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._lock = threading.Lock()
        self._snapshot = SinkSnapshot()
        self._receiver = Receiver(host, port, SinkReport.from_bytes, self._take)

    @property
    def options(self) -> Mapping[str, str]:
        """The options to give to the writer: ``.options(**metrics.options)``. Its text does not show the secret."""
        host, port, secret = self._receiver.address
        return Properties({"sink.metrics.address": f"{host}:{port}", "sink.metrics.secret": secret.hex()})

    def snapshot(self) -> SinkSnapshot:
        """What was written so far: all micro-batches that have ended, and all batch writes."""
        with self._lock:
            return self._snapshot

    def close(self) -> None:
        """Stop listening; the last snapshot remains."""
        self._receiver.close()

    def __enter__(self) -> SinkMetrics:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _take(self, report: SinkReport) -> None:
        with self._lock:
            self._snapshot = self._snapshot.plus(report)
