"""Choose the partitions of records without a key, as many at a time as fill a batch of the producer's."""

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


class BatchPartitioner:
    """Stays with a partition until a batch is full, then goes on with the partition that has got the least so far.

    So do Java's producers (KIP-794). librdkafka's own partitioner draws lots, and a partition that has got several
    batches more than the others is still sending them when those have nothing left.

    Args:
        partitions: The numbers of the partitions to choose from; at least one.
        limits: The limits of a batch.
    """

    def __init__(self, partitions: tuple[int, ...], limits: BatchLimits) -> None:
        self.partitions = partitions
        self._limits = limits
        # The number of batches that each has got; partly filled ones count as fractions
        self._filled = dict.fromkeys(partitions, 0.0)
        self._partition = partitions[0]
        self._room = BatchLimits(0, 0)

    def close_batch(self) -> None:
        """Choose another partition for the next record, even if the batch is not full."""
        self._room = BatchLimits(0, 0)

    def next_run(self, offsets: npt.NDArray[np.int32], first: int) -> tuple[int, int]:
        """Return the partition of the next records, and the index behind the last one that its batch has room for.

        The last one may be larger than the room that is left.

        Args:
            offsets: Arrow's offsets of all values, one more than there are values.
            first: The index of the next record.
        """
        if min(self._room) <= 0:
            self._open_batch()
        by_size = int(np.searchsorted(offsets, int(offsets[first]) + self._room.bytes))
        return self._partition, min(by_size, first + self._room.records, len(offsets) - 1)

    def add(self, records: int, size: int) -> None:
        """Count records that were produced to the partition of the last run, and their bytes."""
        self._room = BatchLimits(self._room.records - records, self._room.bytes - size)
        self._filled[self._partition] += max(records / self._limits.records, size / self._limits.bytes)

    def _open_batch(self) -> None:
        least = min(self._filled.values())
        self._partition = _RANDOM.choice([partition for partition, filled in self._filled.items() if filled == least])
        self._room = self._limits
