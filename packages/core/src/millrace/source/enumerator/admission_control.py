"""Limit the next micro-batch, when it does not take everything that is available.

Spark asks for such limits by the interface ``SupportsAdmissionControl``, in Python by ``latestOffset(start, limit)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.options.connector import SourceOptions
from millrace.source.enumerator.alignment import Alignment

DEFAULT_RECORD_BYTES = 1_000.0
"""The assumed size of a record as long as none was seen."""

MAX_TABLE_RECORDS = 500_000
"""Offsets of a partition that a micro-batch takes without a user's limit, if the stream keeps the rows of a table.

A task has its changes in memory.
"""

RESAMPLE_SAFETY_FACTOR = 10
"""Growth of the size of records up to which a batch that seems to fit is not sampled again."""


class HeldBack(StrEnum):
    """The reason why a micro-batch does not take all that is available."""

    MIN_RECORDS = "min-records"
    ALIGNMENT = "alignment"
    LIMIT = "limit"


class RecordSizes(Protocol):
    """The sizes of records in a cluster."""

    def mean_record_bytes(self, start: Offsets, end: Offsets) -> float | None:
        """Return the mean size of some records between two offsets; None when none came."""


class AdmissionControl:
    """Find the end of each micro-batch by the user's limits.

    Args:
        options: The limits.
        record_sizes: Samples records for a limit in bytes.
        alignment: Ends partitions at about the same timestamp; None when the user does not want that.
        clock: Monotonic clock, in seconds.

    Attributes:
        held_back: The reason why the last micro-batch did not take everything; None where it did.
    """

    def __init__(
        self,
        options: SourceOptions,
        record_sizes: RecordSizes,
        alignment: Alignment | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._record_sizes = record_sizes
        self._alignment = alignment
        self._clock = clock
        self._record_bytes = DEFAULT_RECORD_BYTES
        self._has_sampled = False
        self._last_batch_at: float | None = None
        self.held_back: HeldBack | None = None

    def end(self, begin: Offsets, available: Offsets, *, draining: bool) -> Offsets:
        """Return where the next micro-batch ends.

        Args:
            begin: Where it begins.
            available: How far it could go; of the same partitions or fewer.
            draining: Whether nothing more is waited for.
        """
        start = {partition: begin[partition] for partition in available}
        self.held_back = None
        if not draining and self._must_wait(start, available):
            self.held_back = HeldBack.MIN_RECORDS
            return start
        max_records = self._max_records(start, available)
        everything = available
        if self._options.has_default_limit:
            available = {p: min(offset, start[p] + MAX_TABLE_RECORDS) for p, offset in available.items()}
        if self._alignment:
            available = self._alignment.end(start, available, max_records, draining=draining)
        end = available if max_records is None else limit_records(start, available, max_records)
        if end != everything:
            self.held_back = HeldBack.ALIGNMENT if self._alignment and end == available else HeldBack.LIMIT
        if end != start:
            self._last_batch_at = self._clock()
        return end

    def _must_wait(self, start: Offsets, available: Offsets) -> bool:
        min_records, last = self._options.min_records_per_batch, self._last_batch_at
        if min_records is None or last is None or self._clock() - last >= self._options.max_batch_delay_ms / 1000:
            return False
        return _backlog(start, available) < min_records

    def _max_records(self, start: Offsets, available: Offsets) -> int | None:
        max_records, max_bytes = self._options.max_records_per_batch, self._options.max_bytes_per_batch
        if max_bytes is None or available == start:
            return max_records
        expected_bytes = _backlog(start, available) * self._record_bytes
        if self._has_sampled and expected_bytes * RESAMPLE_SAFETY_FACTOR < max_bytes:
            return max_records
        sampled = self._record_sizes.mean_record_bytes(start, available)
        self._has_sampled = sampled is not None
        self._record_bytes = sampled or self._record_bytes
        records = max(1, int(max_bytes / self._record_bytes))
        return records if max_records is None else min(max_records, records)


def limit_records(start: Offsets, end: Offsets, max_records: int) -> dict[TopicPartition, int]:
    """Return end offsets not beyond ``end`` that together take at most ``max_records`` offsets.

    The limit is shared out in proportion to what each partition has left, so that all finish at about the same time.
    A partition with something left gets at least one, while ``max_records`` allows: none starves beside a big one.

    Args:
        start: Where each partition is.
        end: Where each partition could go; the same partitions.
        max_records: At least 1.
    """
    backlog = {partition: end[partition] - start[partition] for partition in end}
    if sum(backlog.values()) <= max_records:
        return dict(end)
    waiting = sorted((partition for partition in backlog if backlog[partition]), key=lambda p: (-backlog[p], p))
    shares = dict.fromkeys(waiting[:max_records], 1)
    spare = max_records - len(shares)
    unassigned = sum(backlog[partition] - 1 for partition in shares)
    for partition in shares:
        shares[partition] += spare * (backlog[partition] - 1) // unassigned if unassigned else 0
    _distribute(shares, backlog, max_records - sum(shares.values()))
    return {partition: start[partition] + shares.get(partition, 0) for partition in end}


def _distribute(shares: dict[TopicPartition, int], backlog: Offsets, remainder: int) -> None:
    """Add what rounding has left, one offset to a partition."""
    for partition in shares:
        extra = min(remainder, backlog[partition] - shares[partition], 1)
        shares[partition] += extra
        remainder -= extra


def _backlog(start: Offsets, available: Offsets) -> int:
    return sum(available.values()) - sum(start.values())
