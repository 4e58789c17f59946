"""The partitioner ``round-robin``: records without a key in turn over all partitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from millrace.contracts import Partitioner, Payloads
from millrace.options import option


@dataclass(frozen=True)
class RoundRobinOptions:
    """The options of round-robin."""

    ignore_keys: bool = option(
        "ignore-keys",
        default=False,
        doc="With round-robin: give records with a key their turn too, so that records with the same key go to "
        "several partitions (an addition).",
    )


class RoundRobinPartitioner(Partitioner):
    """Give the records of a task to the partitions in turn; those with a key go where their key says.

    Each topic has its own turn, which goes on from one batch to the next. The tasks' first partitions are spread over
    the topic, so that tasks with few records do not all write to the first partitions.

    A stream's next micro-batch begins where this one began, not where it ended, so that a repeated one goes to the same
    partitions again. Where a task has fewer records than the topic has partitions, some partitions get none; the
    partitioner ``default`` has no such preference.
    """

    Options = RoundRobinOptions
    options: RoundRobinOptions

    def __init__(self, options: RoundRobinOptions | None = None) -> None:
        super().__init__(options)
        self._task_index = 0
        self._task_count = 0
        self._next: dict[str, int] = {}

    def open(self, task_index: int, task_count: int) -> None:
        """Keep the index and the number of tasks: see `Partitioner.open`."""
        self._task_index = task_index
        self._task_count = task_count

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Return the next partitions in turn, null for records with a key: see `Partitioner.partition`."""
        start = self._next.get(topic, self._first(partition_count))
        if self.options.ignore_keys:
            turns, has_key = np.arange(len(values)), None
        else:
            has_key = keys.to_array().is_valid().to_numpy(zero_copy_only=False)
            turns = np.cumsum(~has_key) - 1
        count = int(turns[-1]) + 1 if len(turns) else 0
        self._next[topic] = (start + count) % partition_count
        return pa.array(((start + turns) % partition_count).astype(np.int32), mask=has_key)

    def _first(self, partition_count: int) -> int:
        if not self._task_count:
            return self._task_index % partition_count
        return self._task_index * partition_count // self._task_count % partition_count
