"""Collect the traces of messages that a session's queries read, while somebody wants to link to them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from millrace.api.session_settings import add_entry, remove_entry
from millrace.monitoring.receiver import Receiver
from millrace.monitoring.trace_report import SETTING, TraceFollower, TraceReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_BATCHES = 200
"""The number of micro-batches whose traces are remembered, the newest: those that fail are never asked for."""


class SessionTraces:
    """The traces of messages by micro-batch, of queries that start while it is open.

    Args:
        max_links: The number of a micro-batch's messages, at most; 0 to collect nothing.
    """

    def __init__(self, max_links: int) -> None:
        self._max_links = max_links
        self._by_batch: dict[tuple[str, int], dict[str, None]] = {}
        self._lock = threading.Lock()
        self._receiver: Receiver[TraceReport] | None = None
        self._sessions: list[SparkSession] = []

    def open(self, spark: SparkSession) -> None:
        """Listen to the queries of a session that start from now on."""
        if not self._max_links:
            return
        if self._receiver is None:
            self._receiver = Receiver("127.0.0.1", 0, TraceReport.from_bytes, self.add)
        self._sessions.append(spark)
        add_entry(spark, SETTING, self._entry(self._receiver))

    def close(self) -> None:
        """Stop listening. Nothing happens the second time."""
        if self._receiver is None:
            return
        for spark in self._sessions:
            remove_entry(spark, SETTING, self._entry(self._receiver))
        self._sessions.clear()
        self._receiver.close()
        self._receiver = None

    def add(self, report: TraceReport) -> None:
        """Add the traces of a split; those of a split that is read again are there already."""
        with self._lock:
            traces = self._by_batch.setdefault((report.run, report.batch), {})
            traces.update(dict.fromkeys(report.traceparents))
            while len(self._by_batch) > MAX_BATCHES:
                del self._by_batch[next(iter(self._by_batch))]

    def take(self, run: str, batch: int) -> tuple[str, ...]:
        """Return the traces of a micro-batch that has ended, and forget them."""
        with self._lock:
            return tuple(self._by_batch.pop((run, batch), ()))[: self._max_links]

    def _entry(self, receiver: Receiver[TraceReport]) -> str:
        return str(TraceFollower(receiver.address, self._max_links))
