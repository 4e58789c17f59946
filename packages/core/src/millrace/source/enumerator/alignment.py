"""Aligned reading: each micro-batch ends all partitions at about the same record timestamp.

A partition with little data would otherwise be read far ahead of the others. A watermark follows the newest timestamp
that was read, so that the rows of the partitions behind would be dropped as late. Flink's documentation describes the
same idea under "Watermark alignment"; its source readers pause, here a micro-batch ends earlier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.options.connector import SourceOptions


class TimestampIndex(Protocol):
    """The offsets of timestamps, as brokers know them."""

    def offsets_for_timestamp(
        self, partitions: Collection[TopicPartition], millis: int
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return offset and timestamp of each partition's first record from a time on; -1 without one."""


class RecordTimestamps(Protocol):
    """The timestamps of records, found by reading them."""

    def next_timestamps(self, start: Offsets, end: Offsets) -> dict[TopicPartition, int]:
        """Return the timestamp of each partition's first visible record; partitions without one are left out."""

    def offset_of_timestamp(self, partition: TopicPartition, millis: int, start: int, end: int) -> int:
        """Return the offset of the first record from ``start`` on with this timestamp or a later one."""


class Alignment:
    """Finds, for each partition, the offset where the timestamps of a micro-batch end.

    The timestamps of a batch go from the oldest that is next in any partition to that one plus the drift.

    Args:
        index: The brokers' index of timestamps.
        records: Reads records for their timestamps.
        max_drift_ms: How much time a batch spans, by the records' timestamps.
        idle_timeout_ms: How long a partition that has nothing new still holds the others back: 0 for ever, None not at
            all.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        index: TimestampIndex,
        records: RecordTimestamps,
        max_drift_ms: int,
        idle_timeout_ms: int | None,
        clock: Callable[[], float],
    ) -> None:
        self._index = index
        self._records = records
        self._max_drift_ms = max_drift_ms
        # As in the reference, 0 means that a partition is never idle
        self._idle_timeout_s = math.inf if idle_timeout_ms == 0 else (idle_timeout_ms or 0) / 1000
        self._clock = clock
        # Offset and timestamp of the record that a partition is to read next, where a look-up has shown it
        self._next_records: dict[TopicPartition, tuple[int, int]] = {}
        # Up to which timestamp a partition was read, and since when it has nothing new
        self._read_until: dict[TopicPartition, int] = {}
        self._quiet_since: dict[TopicPartition, float] = {}

    @classmethod
    def of(
        cls, options: SourceOptions, index: TimestampIndex, records: RecordTimestamps, clock: Callable[[], float]
    ) -> Alignment | None:
        """Return the alignment that the options ask for, if any."""
        if options.max_drift_ms is None:
            return None
        return cls(index, records, options.max_drift_ms, options.idle_timeout_ms, clock)

    def end(self, begin: Offsets, available: Offsets, max_records: int | None, *, draining: bool) -> Offsets:
        """Return where each partition ends in the next micro-batch.

        Args:
            begin: Where it begins.
            available: How far it could go; the same partitions.
            max_records: How many offsets the batch may have; it spans less time when it would have more. Only records
                of one and the same timestamp can still be too many.
            draining: Whether partitions that have nothing new hold nobody back, since nothing more is waited for.
        """
        backlog = {partition: begin[partition] for partition in begin if available[partition] > begin[partition]}
        timestamps = self._next_timestamps(backlog, available)
        if not timestamps:
            return available
        oldest = min(timestamps.values())
        bound = self._max_drift_ms + (oldest if draining else min([oldest, *self._hold_backs(oldest, begin, backlog)]))
        # Offsets without a visible record are passed at once
        gaps = {partition: available[partition] for partition in available if partition not in timestamps}

        def ends_by(bound: int) -> Offsets:
            return self._ends(timestamps, bound, begin, available)

        ends = ends_by(bound)
        if max_records is not None and _count(begin, ends) > max_records:
            bound, ends = _largest_fitting(ends_by, oldest, bound, begin, max_records)
        for partition in timestamps:
            self._read_until[partition] = bound
        return {**begin, **gaps, **ends}

    def _next_timestamps(self, backlog: Offsets, available: Offsets) -> dict[TopicPartition, int]:
        """Return the timestamp of the next record of each partition; those without a visible one are left out."""
        cached = {
            partition: self._next_records[partition][1]
            for partition, offset in backlog.items()
            if partition in self._next_records and self._next_records[partition][0] == offset
        }
        unknown = {partition: offset for partition, offset in backlog.items() if partition not in cached}
        read = self._records.next_timestamps(unknown, available)
        self._next_records.update({partition: (unknown[partition], timestamp) for partition, timestamp in read.items()})
        return {**cached, **read}

    def _hold_backs(self, oldest: int, begin: Offsets, backlog: Offsets) -> list[int]:
        """Return the timestamps at which partitions without anything new hold the others, until they count as idle."""
        now = self._clock()
        for partition in backlog:
            self._quiet_since.pop(partition, None)
        quiet = [partition for partition in begin if partition not in backlog]
        return [
            self._read_until.setdefault(partition, oldest)
            for partition in quiet
            if now - self._quiet_since.setdefault(partition, now) < self._idle_timeout_s
        ]

    def _ends(
        self, timestamps: Mapping[TopicPartition, int], bound: int, begin: Offsets, available: Offsets
    ) -> dict[TopicPartition, int]:
        """Return where those partitions end whose next record is older than a timestamp."""
        behind = [partition for partition, timestamp in timestamps.items() if timestamp < bound]
        ends = {}
        for partition, (offset, timestamp) in self._index.offsets_for_timestamp(behind, bound).items():
            if offset < 0:
                ends[partition] = available[partition]
            elif offset > begin[partition]:
                ends[partition] = min(offset, available[partition])
                self._next_records[partition] = offset, timestamp
            else:
                # A record with a later timestamp was written, and read, before older ones
                ends[partition] = self._records.offset_of_timestamp(
                    partition, bound, begin[partition], available[partition]
                )
        return ends


def _count(begin: Offsets, ends: Offsets) -> int:
    return sum(end - begin[partition] for partition, end in ends.items())


def _largest_fitting(
    ends_by: Callable[[int], Offsets], oldest: int, too_late: int, begin: Offsets, max_records: int
) -> tuple[int, Offsets]:
    """Return a bound, and the ends with it, that gives at most ``max_records`` and, if it can, half of them."""
    fitting: tuple[int, Offsets] | None = None
    low, high = oldest, too_late
    while high - low > 1:
        bound = (low + high) // 2
        ends = ends_by(bound)
        records = _count(begin, ends)
        if records > max_records:
            high = bound
            continue
        low, fitting = bound, (bound, ends)
        if records > max_records // 2:
            break
    return fitting or (oldest + 1, ends_by(oldest + 1))
