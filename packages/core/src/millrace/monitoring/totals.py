"""What a stream has read since its process began, added up from the executors' reports."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from millrace.contracts import TopicPartition
from millrace.monitoring.report import Count, Report

# A report that is later than so many micro-batches stays missing
LATEST = 10


class Totals:
    """Adds up reports, each split of a micro-batch once, however often it was read.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._is_finished = True
        self._batch = 0
        self._splits = 0
        self._began_at = clock()
        self._reports: dict[int, Report] = {}
        self._counts: dict[TopicPartition, Count] = defaultdict(Count)
        self._statistics: dict[str, dict[str, int]] = {}
        self._missing = 0
        self._awaited: set[tuple[int, int]] = set()
        self._last_seconds = 0.0
        self._last_reports: list[Report] = []
        self._idle_since = clock()

    def begin(self, splits: int) -> int:
        """Begin a micro-batch of so many splits; answers its number."""
        with self._lock:
            self._reports = {}
            self._splits = splits
            self._began_at = self._clock()
            self._is_finished = False
            self._batch += 1
            return self._batch

    def take(self, report: Report) -> int:
        """Take a report; one of a split that was read again replaces the one before.

        Returns:
            How many malformed records were met so far, those of the micro-batch that is under way included.
        """
        with self._lock:
            if report.batch == self._batch and not self._is_finished:
                self._reports[report.split] = report
            elif (report.batch, report.split) in self._awaited:
                # Its task had ended, but the report was still under way
                self._awaited.remove((report.batch, report.split))
                self._missing -= 1
                self._add(report)
                if report.batch == self._batch:
                    self._last_reports.append(report)
            now = () if self._is_finished else self._reports.values()
            counts = [*self._counts.values(), *(count for each in now for count in each.counts.values())]
            return sum(count.errors for count in counts)

    def finish(self) -> None:
        """Add up the micro-batch that has ended."""
        with self._lock:
            if self._is_finished:
                return
            reports = list(self._reports.values())
            for report in reports:
                self._add(report)
            now = self._clock()
            self._last_seconds = max(now - self._began_at, 1e-3)
            self._last_reports = reports
            self._missing += self._splits - len(reports)
            missing = {(self._batch, split) for split in range(self._splits) if split not in self._reports}
            self._awaited = {each for each in self._awaited if each[0] > self._batch - LATEST} | missing
            self._idle_since = now
            self._is_finished = True

    def _add(self, report: Report) -> None:
        if report.client:
            self._statistics[report.client] = report.statistics
        for partition, count in report.counts.items():
            self._counts[partition].add(count)

    def to_json(self) -> dict[str, Any]:
        """What is known now.

        ``partitions`` has, by topic and partition, the fields of `Count`; ``idle_ms`` is the time since the last
        micro-batch ended, or since the process began; ``missing`` counts the splits whose reports did not come.
        """
        partitions: dict[str, dict[str, list[int | None]]] = {}
        with self._lock:
            for (topic, partition), count in sorted(self._counts.items()):
                partitions.setdefault(topic, {})[str(partition)] = count.to_list()
            last = [count for report in self._last_reports for count in report.counts.values()]
            seconds = self._last_seconds or 1.0
        return {
            "partitions": partitions,
            "records_per_second": round(sum(count.records for count in last) / seconds, 1),
            "bytes_per_second": round(sum(count.bytes for count in last) / seconds, 1),
            "idle_ms": int((self._clock() - self._idle_since) * 1000),
            "missing": self._missing,
            "clients": self._statistics,
        }
