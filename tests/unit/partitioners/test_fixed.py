from __future__ import annotations

import pytest

from millrace.contracts import Payloads
from millrace.testing import PartitionerSuite
from millrace_partitioners.fixed import FixedPartitioner

THREE = Payloads([b"a", None, b"c"])


class TestFixedPartitioner(PartitionerSuite):
    def make_partitioner(self) -> FixedPartitioner:
        return FixedPartitioner()

    @pytest.mark.parametrize(("task_index", "partition"), [(0, 0), (3, 3), (4, 0), (9, 1)])
    def test_all_records_of_a_task_go_to_its_partition(self, task_index: int, partition: int) -> None:
        partitioner = self.make_partitioner()
        partitioner.open(task_index, 10)
        assert partitioner.partition("topic", THREE, THREE, 4).to_pylist() == [partition] * 3

    def test_added_partitions_are_used(self) -> None:
        partitioner = self.make_partitioner()
        partitioner.open(5, 10)
        chosen = [partitioner.partition("topic", THREE, THREE, count).to_pylist()[0] for count in (4, 6)]
        assert chosen == [1, 5]
