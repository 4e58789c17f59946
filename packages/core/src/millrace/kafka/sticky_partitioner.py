"""Choose the partitions of records without a key: one at a time, until a batch is full."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Unaffected by random.seed in a user's function: workers that begin together would begin with the same partition
_RANDOM = random.SystemRandom()


class BatchLimits(NamedTuple):
    """The limits of a producer's batch: it is full when it reaches one of them."""

    records: int
    bytes: int


class StickyPartitioner:
    """Fills a batch for one partition, then one for the partition that has received the least so far.

    Java's producers also fill a batch before they move on (KIP-794), but to a random partition. At the end of a task, a
    partition that has received several batches more than the others would still be sending when they have finished.

    Args:
        available: The partitions to choose from, those that have a leader; at least one.
        limits: The limits of a batch.

    Attributes:
        available: The partitions to choose from.
    """

    def __init__(self, available: tuple[int, ...], limits: BatchLimits) -> None:
        self.available = available
        self._limits = limits
        # In batches; those that are not full count as fractions
        self._received = dict.fromkeys(available, 0.0)
        self._partition = available[0]
        self.close_batch()

    def close_batch(self) -> None:
        """Choose a partition again for the next record, even if the batch is not full."""
        self._remaining = BatchLimits(0, 0)

    def next_run(self, offsets: npt.NDArray[np.int32], first: int) -> tuple[int, int]:
        """Return the partition of the next records, and the index after the last one that fits its batch.

        The last one may be larger than what remains of the batch.

        Args:
            offsets: Arrow's offsets of all values, one more than there are values.
            first: The index of the next record.
        """
        if min(self._remaining) <= 0:
            self._open_batch()
        last = min(first + self._remaining.records, len(offsets) - 1)
        limit = int(offsets[first]) + self._remaining.bytes
        if int(offsets[last]) <= limit:
            return self._partition, last
        # A Python integer would make numpy convert the array
        return self._partition, first + 1 + int(np.searchsorted(offsets[first + 1 : last + 1], np.int32(limit)))

    def add(self, records: int, size: int) -> None:
        """Count records, and their bytes, that were produced to the partition of the last run."""
        self._remaining = BatchLimits(self._remaining.records - records, self._remaining.bytes - size)
        self._received[self._partition] += max(records / self._limits.records, size / self._limits.bytes)

    def _open_batch(self) -> None:
        least = min(self._received.values())
        self._partition = _RANDOM.choice([number for number, received in self._received.items() if received == least])
        self._remaining = self._limits
