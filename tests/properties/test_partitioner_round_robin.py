from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace_partitioners.round_robin import RoundRobinPartitioner

batches = st.lists(st.integers(0, 40), max_size=8)


def choose(batches: list[int], partition_count: int, task: tuple[int, int]) -> list[int]:
    partitioner = RoundRobinPartitioner()
    partitioner.open(*task)
    chosen: list[int] = []
    for records in batches:
        payloads = Payloads.nulls(records)
        chosen += partitioner.partition("topic", payloads, payloads, partition_count).to_pylist()
    return chosen


@given(batches, st.integers(1, 20), st.integers(0, 30), st.integers(0, 30))
def test_partitions_get_equally_many_records(batches: list[int], partition_count: int, index: int, more: int) -> None:
    chosen = choose(batches, partition_count, (index, index + more))
    counts = [chosen.count(partition) for partition in range(partition_count)]
    assert len(chosen) == sum(batches)
    assert max(counts) - min(counts) <= 1


@given(batches, st.integers(1, 20))
def test_how_records_are_cut_into_batches_does_not_matter(batches: list[int], partition_count: int) -> None:
    assert choose(batches, partition_count, (1, 3)) == choose([sum(batches)], partition_count, (1, 3))
