"""What a stream has read since its process began, added up from the executors' reports."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from millrace.contracts import TopicPartition
from millrace.monitoring.report import Count, Report


class Totals:
    """Adds up reports, each split of a micro-batch once, however often it was read.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._batch = 0
        self._splits = 0
        self._began_at = clock()
        self._reports: dict[int, Report] = {}
        self._counts: dict[TopicPartition, Count] = defaultdict(Count)
        self._statistics: dict[str, dict[str, int]] = {}
        self._missing = 0
        self._records_per_second = 0.0
        self._bytes_per_second = 0.0
        self._idle_since = clock()

    def begin(self, splits: int) -> int:
        """Begin a micro-batch of so many splits; answers its number."""
        self._reports = {}
        self._splits = splits
        self._began_at = self._clock()
        self._batch += 1
        return self._batch

    def take(self, report: Report) -> None:
        """Take a report; one of a split that was read again replaces the one before."""
        if report.batch == self._batch:
            self._reports[report.split] = report

    def finish(self) -> None:
        """Add up the micro-batch that has ended."""
        reports, self._reports = list(self._reports.values()), {}
        records = bytes_ = 0
        for report in reports:
            if report.client:
                self._statistics[report.client] = report.statistics
            for partition, count in report.counts.items():
                self._counts[partition].add(count)
                records += count.records
                bytes_ += count.bytes
        now = self._clock()
        seconds = max(now - self._began_at, 1e-3)
        self._records_per_second, self._bytes_per_second = records / seconds, bytes_ / seconds
        self._missing += self._splits - len(reports)
        self._splits = 0
        self._idle_since = now

    def to_json(self) -> dict[str, Any]:
        """What is known now.

        ``partitions`` has, by topic and partition, the fields of `Count`; ``idle_ms`` is the time since the last
        micro-batch ended, or since the process began; ``missing`` counts the splits whose reports did not come.
        """
        partitions: dict[str, dict[str, list[int | None]]] = {}
        for (topic, partition), count in sorted(self._counts.items()):
            partitions.setdefault(topic, {})[str(partition)] = count.to_list()
        return {
            "partitions": partitions,
            "records_per_second": round(self._records_per_second, 1),
            "bytes_per_second": round(self._bytes_per_second, 1),
            "idle_ms": int((self._clock() - self._idle_since) * 1000),
            "missing": self._missing,
            "clients": self._statistics,
        }
