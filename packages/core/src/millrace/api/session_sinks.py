"""Measure the sinks of a session's queries while somebody follows them, without a collector for each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from millrace.api.session_settings import add_entry, remove_entry
from millrace.api.sink_metrics import add_report
from millrace.contracts.datasets import TopicDataset
from millrace.contracts.metrics import SinkMetrics
from millrace.monitoring.receiver import Receiver
from millrace.monitoring.session_receivers import SETTING, receivers_text
from millrace.monitoring.sink_report import SinkReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_RUNS = 200
"""The number of runs whose counts are remembered, the newest."""


class SessionSinks:
    """The counts of what each query of a session has written, by its run.

    A setting of the session gives their tasks the address to report to. Spark copies settings when a query starts, so
    queries that run already are not measured.

    Args:
        on_report: Called with a run after each of its reports, by several threads.
    """

    def __init__(self, on_report: Callable[[str], None]) -> None:
        self._on_report = on_report
        self._by_run: dict[str, SinkMetrics] = {}
        self._topics: dict[str, dict[tuple[str, str], TopicDataset]] = {}
        self._lock = threading.Lock()
        self._receiver: Receiver[SinkReport] | None = None
        self._sessions: list[SparkSession] = []

    def open(self, spark: SparkSession) -> None:
        """Listen to the queries of a session that start from now on."""
        if self._receiver is None:
            self._receiver = Receiver("127.0.0.1", 0, SinkReport.from_bytes, self.add)
        self._sessions.append(spark)
        add_entry(spark, SETTING, receivers_text([self._receiver.address]))

    def close(self) -> None:
        """Stop listening. Nothing happens the second time."""
        if self._receiver is None:
            return
        for spark in self._sessions:
            remove_entry(spark, SETTING, receivers_text([self._receiver.address]))
        self._sessions.clear()
        self._receiver.close()
        self._receiver = None

    def add(self, report: SinkReport) -> None:
        """Add the report of a micro-batch, or of a write inside foreachBatch."""
        with self._lock:
            self._by_run[report.run] = add_report(self._by_run.get(report.run, SinkMetrics()), report)
            topics = self._topics.setdefault(report.run, {})
            for topic in report.topics:
                topics[report.servers, topic] = TopicDataset(report.servers, topic, report.columns)
            while len(self._by_run) > MAX_RUNS:
                oldest = next(iter(self._by_run))
                del self._by_run[oldest], self._topics[oldest]
        self._on_report(report.run)

    def metrics(self, run: str) -> SinkMetrics | None:
        """Return the counts of a run; None where nothing has written yet."""
        return self._by_run.get(run)

    def topics(self, run: str) -> tuple[TopicDataset, ...]:
        """Return the topics that a run has written to."""
        with self._lock:
            return tuple(self._topics.get(run, {}).values())
