"""Partitioners: choose the partitions that records are written to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import pyarrow as pa

from millrace.contracts.payloads import Payloads
from millrace.contracts.plugin import Plugin


class Partitioner(Plugin, ABC):
    """Chooses partitions for batches of records. Each write task has its own instance.

    Attributes:
        decides_by_key: Whether the partition of a record with a key depends on the topic, the key and the number of
            partitions alone. Reads can then find the partition of a key.
    """

    decides_by_key: ClassVar[bool] = False

    def open(self, task_index: int, task_count: int) -> None:
        """Prepare for a write task; called once, before the first record.

        Args:
            task_index: The index of the write task, from 0.
            task_count: The number of write tasks, or 0 if it is unknown.
        """

    @abstractmethod
    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Choose a partition for each record of a batch.

        Args:
            topic: The topic of all records of the batch.
            keys: The keys of the records, None for a record without a key.
            values: The values of the records, None for a tombstone.
            partition_count: The number of partitions of the topic, which can grow between calls.

        Returns:
            One int32 per record, from 0 to ``partition_count`` - 1. For null, the producer chooses: by the
            murmur2 hash of the key, like the Java client, or a sticky partition for a record without a key.
        """


class RecordPartitioner(Partitioner):
    """Base class of partitioners that choose the partition of one record at a time."""

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Choose partitions by `partition_record`: see `Partitioner.partition`."""
        choose = self.partition_record
        chosen = [
            choose(topic, key, value, partition_count)
            for key, value in zip(keys.to_list(), values.to_list(), strict=True)
        ]
        return pa.array(chosen, pa.int32())

    @abstractmethod
    def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int | None:
        """Return the partition for one record, or None to leave the choice to the producer."""
