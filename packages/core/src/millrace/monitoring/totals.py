"""Add up what a stream has read since its process began, from the executors' reports."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Container
from dataclasses import replace

from millrace.contracts import TopicPartition
from millrace.monitoring.malformed_runs import RangeRuns, joined
from millrace.monitoring.progress import ReadProgress
from millrace.monitoring.split_report import MalformedTotals, PartitionCounts, SplitReport

MAX_CLIENTS = 64
"""The number of clients whose statistics are kept, the last that reported: workers come and go."""

MAX_LATE_BATCHES = 10
"""A report that is later than so many micro-batches stays missing."""


class StreamTotals:
    """Add up reports, each split of a micro-batch once, however often it was read.

    Args:
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # The micro-batch that is under way, or the last one
        self._batch = 0
        self._has_ended = True
        self._splits = 0
        self._began_at = clock()
        self._reports: dict[int, SplitReport] = {}
        # All micro-batches that have ended
        self._counts: dict[TopicPartition, PartitionCounts] = defaultdict(PartitionCounts)
        # What was read of partitions that are gone
        self._gone = PartitionCounts()
        # What was read in micro-batches some of whose partitions were replayed: a share of the rest says nothing
        self._not_compared = PartitionCounts()
        # The malformed messages at the ends of the micro-batches that have ended
        self._last_runs: dict[TopicPartition, RangeRuns] = {}
        self._statistics: dict[str, dict[str, float]] = {}
        self._missing = 0
        self._late_splits: set[tuple[int, int]] = set()
        # The last micro-batch that has ended
        self._last_seconds = 0.0
        self._last_reports: list[SplitReport] = []
        self._idle_since = clock()

    def begin_batch(self, splits: int) -> int:
        """Begin a micro-batch of so many splits, and return its number."""
        with self._lock:
            self._reports = {}
            self._splits = splits
            self._began_at = self._clock()
            self._has_ended = False
            self._batch += 1
            return self._batch

    def add_report(self, report: SplitReport) -> MalformedTotals:
        """Add a report; one of a split that was read again replaces the one before, except for what it replays.

        Returns:
            The malformed messages so far, those of the micro-batch that is under way included.
        """
        with self._lock:
            if report.batch == self._batch and not self._has_ended:
                before = self._reports.get(report.split)
                report = report if before is None else report.replacing(before)
                self._reports[report.split] = report
            elif (report.batch, report.split) in self._late_splits:
                # Its task had ended, but the report was still under way
                self._late_splits.remove((report.batch, report.split))
                self._missing -= 1
                self._add(report)
                if report.batch == self._batch:
                    self._last_reports.append(report)
            return self._malformed_totals(report)

    def _malformed_totals(self, report: SplitReport) -> MalformedTotals:
        under_way = () if self._has_ended else self._reports.values()
        read = [counts for report in under_way for counts in report.counts.values()]
        counts = [self._gone, *self._counts.values(), *read]
        messages = sum(count.records for count in counts) - self._not_compared.records
        return MalformedTotals(
            sum(count.errors for count in counts),
            messages if self._has_all_counts else 0,
            self._longest_run(report),
            self._not_compared.errors,
        )

    @property
    def _has_all_counts(self) -> bool:
        """True if it is known how many messages the micro-batch has: which split reports first is left to chance."""
        if self._has_ended:
            return True
        return len(self._reports) == self._splits and not any(report.replayed for report in self._reports.values())

    def _longest_run(self, report: SplitReport) -> int:
        """Return the most malformed messages in a row in partitions of a report of the last micro-batch."""
        ranges = [runs for partition in report.runs for runs in self._joined_runs(partition)]
        return max((range_runs.runs.longest for range_runs in ranges), default=0)

    def _joined_runs(self, partition: TopicPartition) -> list[RangeRuns]:
        reported = [report.runs[partition] for report in self._reports.values() if partition in report.runs]
        before = self._last_runs.get(partition)
        # Offsets begin again where a topic was created again, or its log was truncated
        goes_on = before is not None and any(runs.start == before.end for runs in reported)
        return joined([before, *reported] if before is not None and goes_on else reported)

    def end_batch(self) -> None:
        """Add the micro-batch that has ended to the totals."""
        with self._lock:
            if self._has_ended:
                return
            reports = list(self._reports.values())
            for report in reports:
                self._add(report)
            if any(report.replayed for report in reports):
                self._leave_out(reports)
            for partition in {partition for report in reports for partition in report.runs}:
                self._last_runs[partition] = self._joined_runs(partition)[-1].tail
            now = self._clock()
            self._last_seconds = max(now - self._began_at, 1e-3)
            self._last_reports = reports
            self._missing += self._splits - len(reports)
            missing = {(self._batch, split) for split in range(self._splits) if split not in self._reports}
            still_late = {late for late in self._late_splits if late[0] > self._batch - MAX_LATE_BATCHES}
            self._late_splits = still_late | missing
            self._idle_since = now
            self._has_ended = True

    def _leave_out(self, reports: list[SplitReport]) -> None:
        for report in reports:
            for counts in report.counts.values():
                self._not_compared.add(counts)

    def _add(self, report: SplitReport) -> None:
        if report.client:
            self._statistics.pop(report.client, None)
            self._statistics[report.client] = report.statistics
            if len(self._statistics) > MAX_CLIENTS:
                del self._statistics[next(iter(self._statistics))]
        for partition, counts in report.counts.items():
            self._counts[partition].add(counts)

    def keep_only(self, partitions: Container[TopicPartition]) -> None:
        """Forget other partitions than these, which are gone; each progress would hold all of a year's topics."""
        with self._lock:
            for gone in [partition for partition in self._counts if partition not in partitions]:
                self._gone.add(self._counts.pop(gone))
                self._last_runs.pop(gone, None)

    def mean_value_bytes(self) -> dict[TopicPartition, float]:
        """Return the mean size of the values of each partition of which some were read."""
        with self._lock:
            return {
                partition: counts.bytes / counts.records for partition, counts in self._counts.items() if counts.records
            }

    def progress(self) -> ReadProgress:
        """Return the totals so far."""
        with self._lock:
            partitions = {partition: replace(counts) for partition, counts in self._counts.items()}
            last = [counts for report in self._last_reports for counts in report.counts.values()]
            seconds = self._last_seconds or 1.0
            clients = dict(self._statistics)
        return ReadProgress(
            partitions,
            records_per_second=round(sum(counts.records for counts in last) / seconds, 1),
            bytes_per_second=round(sum(counts.bytes for counts in last) / seconds, 1),
            idle_ms=int((self._clock() - self._idle_since) * 1000),
            missing=self._missing,
            clients=clients,
        )
