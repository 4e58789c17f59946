"""The conformance suite for partitioners."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import pyarrow as pa
import pytest

from millrace.contracts import Partitioner, Payloads
from millrace.testing.plugin_options import PluginOptionsSuite

Record = tuple[bytes | None, bytes | None]
"""A record's key and value."""


class PartitionerSuite(PluginOptionsSuite):
    """Tests that a partitioner keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override `make_partitioner`; override `records`
    too when the partitioner reads keys or values of a certain form, so that the tests show it some::

        class TestByRegion(PartitionerSuite):
            records = (*PartitionerSuite.records, (b"eu:17", b"..."), (b"us:4", b"..."))

            def make_partitioner(self):
                return RegionPartitioner()

    Rules that the tests check:

    - Each record gets a partition from 0 to ``partition_count`` - 1, or null to leave the choice to the producer,
      in an int32 array as long as the batch; also an empty batch, and one of thousands of records.
    - Any key and value is accepted, also ones that it was not made for: None, empty, bytes that are no text.
    - ``partition_count`` may be any number from 1, differs from topic to topic, and grows while a task runs.
    - ``open`` comes before the first batch, with a task index that may be beyond the task count, as when that is
      unknown (0).
    - The choice depends on records, topic, partition count, options and ``open`` alone, so that a task which Spark
      repeats writes each record to the same partition: no clock, no random number, no count that other tasks share.
    - Payloads come as lists or as Arrow arrays, and are left as they were.

    The right partitions are for tests of your own.
    """

    records: ClassVar[Sequence[Record]] = (
        (b"key", b"value"),
        (None, b"a value without a key"),
        (b"the key of a tombstone", None),
        (None, None),
        (b"", b""),
        (b"\x00\xff\xfe not UTF-8", b"\xff"),
        (b"key", b"another value"),
        ("Schlüssel".encode(), b"Wert"),
    )
    """Keys and values that the tests write."""

    @abstractmethod
    def make_partitioner(self) -> Partitioner:
        """Make a new partitioner that is not open yet."""

    def make_plugin(self) -> Partitioner:
        """Make the partitioner for the tests of its options."""
        return self.make_partitioner()

    def test_is_a_partitioner(self) -> None:
        assert isinstance(self.make_partitioner(), Partitioner), "subclass millrace.contracts.Partitioner"

    @pytest.mark.parametrize("partition_count", [1, 2, 3, 7, 100])
    @pytest.mark.parametrize(("task_index", "task_count"), [(0, 1), (0, 4), (3, 4), (250, 251), (5, 0)])
    def test_every_record_gets_a_partition(self, task_index: int, task_count: int, partition_count: int) -> None:
        partitioner = self._open(task_index, task_count)
        check_partitions(self._partition(partitioner, partition_count), len(self.records), partition_count)

    def test_many_records(self) -> None:
        records = list(self.records) * 2_000
        chosen = _partition(self._open(), records, 12)
        check_partitions(chosen, len(records), 12)

    def test_empty_batch(self) -> None:
        check_partitions(_partition(self._open(), [], 3), 0, 3)

    def test_records_without_keys(self) -> None:
        values = Payloads([b"a", b"b", None, b"d"])
        check_partitions(self._open().partition("topic", Payloads.nulls(4), values, 3), 4, 3)

    def test_both_forms_of_payloads_get_the_same_partitions(self) -> None:
        keys, values = _columns(self.records)
        as_lists = self._open().partition("topic", Payloads(keys), Payloads(values), 5)
        key_array, value_array = (pa.array(column, pa.binary()) for column in (keys, values))
        as_arrays = self._open().partition("topic", Payloads(key_array), Payloads(value_array), 5)
        assert as_lists.to_pylist() == as_arrays.to_pylist(), (
            "payloads that come as lists and as Arrow arrays must get the same partitions"
        )

    def test_payloads_are_left_as_they_were(self) -> None:
        keys, values = _columns(self.records)
        self._open().partition("topic", Payloads(keys), Payloads(values), 5)
        assert (keys, values) == _columns(self.records), "payloads belong to the caller: change a copy"

    def test_partitions_are_added_while_running(self) -> None:
        partitioner = self._open(2, 4)
        for partition_count in (1, 2, 2, 5, 64):
            check_partitions(self._partition(partitioner, partition_count), len(self.records), partition_count)

    def test_topics_of_different_sizes_in_turn(self) -> None:
        partitioner = self._open(3, 4)
        for topic, partition_count in (("large", 50), ("small", 2), ("large", 50), ("small", 2)):
            chosen = self._partition(partitioner, partition_count, topic)
            check_partitions(chosen, len(self.records), partition_count)

    def test_a_repeated_task_makes_the_same_choices(self) -> None:
        tasks = [self._open(1, 3), self._open(1, 3)]
        first, second = ([self._partition(task, 7).to_pylist() for _ in range(3)] for task in tasks)
        assert first == second, "the choice may depend on the records and on open() alone"

    def test_an_executor_makes_the_same_choices(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, Partitioner), "an executor makes the plugin of its class and its options"
        remade.open(0, 1)
        assert self._partition(remade, 7).to_pylist() == self._partition(self._open(), 7).to_pylist(), (
            "a partitioner that an executor makes of the options must choose the same partitions"
        )

    def _open(self, task_index: int = 0, task_count: int = 1) -> Partitioner:
        partitioner = self.make_partitioner()
        partitioner.open(task_index, task_count)
        return partitioner

    def _partition(self, partitioner: Partitioner, partition_count: int, topic: str = "topic") -> pa.Int32Array:
        return _partition(partitioner, self.records, partition_count, topic)


def check_partitions(chosen: pa.Array, record_count: int, partition_count: int) -> None:
    """Check what a partitioner answered for a batch of ``record_count`` records."""
    assert isinstance(chosen, pa.Array), f"expected a pyarrow array, got {type(chosen)}"
    assert chosen.type == pa.int32(), f"expected partitions of type int32, got {chosen.type}: pa.array(..., pa.int32())"
    assert len(chosen) == record_count, "expected one partition for each record, null for those left to the producer"
    chosen.validate(full=True)
    outside = [
        partition for partition in chosen.to_pylist() if partition is not None and not 0 <= partition < partition_count
    ]
    assert not outside, f"expected partitions from 0 to {partition_count - 1}, or null, got {outside}"


def _columns(records: Sequence[Record]) -> tuple[list[bytes | None], list[bytes | None]]:
    return [key for key, _ in records], [value for _, value in records]


def _partition(
    partitioner: Partitioner, records: Sequence[Record], partition_count: int, topic: str = "topic"
) -> pa.Int32Array:
    keys, values = _columns(records)
    return partitioner.partition(topic, Payloads(keys), Payloads(values), partition_count)
