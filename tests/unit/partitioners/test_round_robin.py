from __future__ import annotations

import pytest

from millrace.contracts import Payloads
from millrace.testing import PartitionerSuite
from millrace_partitioners.round_robin import RoundRobinOptions, RoundRobinPartitioner


def partition(
    partitioner: RoundRobinPartitioner, records: int, partition_count: int, topic: str = "topic"
) -> list[int]:
    payloads = Payloads.nulls(records)
    return partitioner.partition(topic, payloads, payloads, partition_count).to_pylist()


def opened(task_index: int, task_count: int) -> RoundRobinPartitioner:
    partitioner = RoundRobinPartitioner()
    partitioner.open(task_index, task_count)
    return partitioner


class TestRoundRobinPartitioner(PartitionerSuite):
    def make_partitioner(self) -> RoundRobinPartitioner:
        return RoundRobinPartitioner()


def test_records_take_turns() -> None:
    assert partition(opened(0, 1), 7, 3) == [0, 1, 2, 0, 1, 2, 0]


def test_the_turn_goes_on_in_the_next_batch() -> None:
    partitioner = opened(0, 1)
    assert [partition(partitioner, 2, 3) for _ in range(3)] == [[0, 1], [2, 0], [1, 2]]


def test_an_empty_batch_takes_no_turn() -> None:
    partitioner = opened(0, 1)
    assert [partition(partitioner, records, 3) for records in (1, 0, 1)] == [[0], [], [1]]


def test_each_topic_has_its_own_turn() -> None:
    partitioner = opened(0, 1)
    turns = [partition(partitioner, 2, 4, topic) for topic in ("a", "b", "a", "b")]
    assert turns == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_added_partitions_get_their_turn() -> None:
    partitioner = opened(0, 1)
    assert partition(partitioner, 3, 2) == [0, 1, 0]
    assert partition(partitioner, 5, 4) == [1, 2, 3, 0, 1]


@pytest.mark.parametrize(
    ("task_count", "partition_count", "first"),
    [(2, 6, [0, 3]), (3, 4, [0, 1, 2]), (4, 4, [0, 1, 2, 3]), (4, 2, [0, 0, 1, 1])],
)
def test_the_tasks_begin_spread_over_the_partitions(task_count: int, partition_count: int, first: list[int]) -> None:
    assert [partition(opened(task, task_count), 1, partition_count)[0] for task in range(task_count)] == first


def test_tasks_of_unknown_number_begin_one_after_another() -> None:
    assert [partition(opened(task, 0), 1, 3)[0] for task in range(5)] == [0, 1, 2, 0, 1]


def test_records_with_keys_go_where_their_keys_say() -> None:
    partitioner = opened(0, 1)
    for expected in ([0, None, 1, None], [2, None, 0, None]):
        keys = Payloads([None, b"k", None, b"k"])
        assert partitioner.partition("topic", keys, keys, 3).to_pylist() == expected


def test_on_request_keys_do_not_count() -> None:
    partitioner = RoundRobinPartitioner(RoundRobinOptions(ignore_keys=True))
    partitioner.open(0, 1)
    keys = Payloads([b"k"] * 4)
    assert partitioner.partition("topic", keys, keys, 3).to_pylist() == [0, 1, 2, 0]
    assert partitioner.partition("topic", keys, keys, 3).to_pylist() == [1, 2, 0, 1]
