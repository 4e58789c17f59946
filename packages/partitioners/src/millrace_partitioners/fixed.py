"""The partitioner ``fixed``: one partition for each write task."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Partitioner, Payloads


class FixedPartitioner(Partitioner):
    """Write every record of task n to partition n modulo the number of partitions.

    Keeps the number of connections low. With fewer tasks than partitions, some partitions get no records, however many
    micro-batches a stream writes: task n is the same in all of them.
    """

    _task_index = 0

    def open(self, task_index: int, task_count: int) -> None:
        """Keep the index of the task: see `Partitioner.open`."""
        self._task_index = task_index

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Return the task's partition for every record: see `Partitioner.partition`."""
        return pa.repeat(pa.scalar(self._task_index % partition_count, pa.int32()), len(values))
