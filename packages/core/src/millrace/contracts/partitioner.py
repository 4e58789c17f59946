"""Partitioners: choose the partitions that records are written to."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa

from millrace.contracts.payloads import Payloads
from millrace.contracts.plugin import Plugin


class Partitioner(Plugin, ABC):
    """Choose partitions for batches of records. One instance serves one write task."""

    def open(self, task_index: int, task_count: int) -> None:
        """Prepare for a write task; called once, before the first record.

        Args:
            task_index: The index of the write task, from 0.
            task_count: How many write tasks there are; 0 when it is unknown.
        """

    @abstractmethod
    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Choose a partition for each record of a batch.

        Args:
            topic: The topic that all records of the batch go to.
            keys: The records' keys, None where a record has no key.
            values: The records' values, None where a record is a tombstone.
            partition_count: How many partitions the topic has; it can grow between calls.

        Returns:
            int32, as long as the batch, each at least 0 and below ``partition_count``. A null leaves the choice to
            the client: by murmur2 of the key as the Java client does, or sticky for a record without a key.
        """


class RecordPartitioner(Partitioner):
    """Base for a partitioner written for one record at a time."""

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
        """Return the partition for one record, or None to leave the choice to the client."""
