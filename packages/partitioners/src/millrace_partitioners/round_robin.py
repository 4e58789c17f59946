"""The partitioner ``round-robin``: records in turn over all partitions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from millrace.contracts import Partitioner, Payloads


class RoundRobinPartitioner(Partitioner):
    """Gives the records of a task to the partitions in turn, whatever their keys.

    Each topic has its own turn, which goes on from one batch to the next. The tasks' first partitions are spread over
    the topic, so that tasks with few records do not all write to the first partitions.

    A stream's next micro-batch begins where this one began, not where it ended, so that a repeated one goes to the same
    partitions again. Where a task has fewer records than the topic has partitions, some partitions get none; the
    partitioner ``default`` has no such preference.
    """

    def __init__(self, options: object = None) -> None:
        super().__init__(options)
        self._task_index = 0
        self._task_count = 0
        self._next: dict[str, int] = {}

    def open(self, task_index: int, task_count: int) -> None:
        """Keep the index and the number of tasks: see `Partitioner.open`."""
        self._task_index = task_index
        self._task_count = task_count

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Return the next partitions in turn: see `Partitioner.partition`."""
        start = self._next.get(topic, self._first(partition_count))
        stop = start + len(values)
        self._next[topic] = stop % partition_count
        return pa.array((np.arange(start, stop) % partition_count).astype(np.int32))

    def _first(self, partition_count: int) -> int:
        if not self._task_count:
            return self._task_index % partition_count
        return self._task_index * partition_count // self._task_count % partition_count
