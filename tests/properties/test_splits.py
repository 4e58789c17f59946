from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import TopicPartition
from millrace.source.enumerator.split_planner import MAX_SPLIT_RECORDS, SMALL_RANGE_RECORDS, plan_splits
from millrace.source.splits import OffsetRange

Bounds = dict[TopicPartition, tuple[int, int]]

partitions = st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 20))
sizes = st.integers(0, 5) | st.integers(0, 2 * SMALL_RANGE_RECORDS) | st.integers(0, 5 * MAX_SPLIT_RECORDS)
bounds = st.dictionaries(partitions, st.tuples(st.integers(0, 10**12), sizes), max_size=15)


def ends(found: Bounds) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    return {p: low for p, (low, _) in found.items()}, {p: low + size for p, (low, size) in found.items()}


def ranges(found: Bounds) -> list[OffsetRange]:
    return [piece for split in plan_splits(*ends(found)) for piece in split.ranges]


@given(bounds)
def test_every_offset_is_in_exactly_one_range_and_in_order(found: Bounds) -> None:
    position, end = ends(found)
    for piece in ranges(found):
        assert piece.start == position[piece.partition]
        assert piece.end > piece.start
        position[piece.partition] = piece.end
    assert position == end


@given(bounds)
def test_no_split_is_larger_than_may_be(found: Bounds) -> None:
    for split in plan_splits(*ends(found)):
        size = sum(map(len, split.ranges))
        assert size <= (MAX_SPLIT_RECORDS if len(split.ranges) == 1 else SMALL_RANGE_RECORDS)


@given(bounds, st.integers(1, 200), st.none() | st.integers(1, 10**6))
def test_there_are_as_many_splits_as_asked_for_and_none_is_too_large(
    found: Bounds, parallelism: int, max_records: int | None
) -> None:
    start, end = ends({partition: (low, min(size, 3_000)) for partition, (low, size) in found.items()})
    most = min(max_records or MAX_SPLIT_RECORDS, 3_000)
    splits = plan_splits(start, end, parallelism, max(most, 50))
    assert len(splits) >= min(parallelism, sum(end.values()) - sum(start.values()))
    assert all(sum(map(len, split.ranges)) <= max(most, 50) for split in splits)
    assert sum(len(piece) for split in splits for piece in split.ranges) == sum(end.values()) - sum(start.values())


@given(bounds)
def test_a_split_reads_each_partition_once(found: Bounds) -> None:
    for split in plan_splits(*ends(found)):
        assert len({piece.partition for piece in split.ranges}) == len(split.ranges) > 0


@given(bounds)
def test_pieces_of_one_partition_differ_by_one_at_most(found: Bounds) -> None:
    by_partition: dict[TopicPartition, list[int]] = {}
    for piece in ranges(found):
        by_partition.setdefault(piece.partition, []).append(len(piece))
    assert all(max(lengths) - min(lengths) <= 1 for lengths in by_partition.values())


@given(bounds)
def test_two_splits_that_fit_into_one_do_not_follow_each_other(found: Bounds) -> None:
    shared = [
        sum(map(len, split.ranges)) for split in plan_splits(*ends(found)) if len(split.ranges[0]) < SMALL_RANGE_RECORDS
    ]
    firsts = [len(split.ranges[0]) for split in plan_splits(*ends(found)) if len(split.ranges[0]) < SMALL_RANGE_RECORDS]
    assert all(size + first > SMALL_RANGE_RECORDS for size, first in zip(shared, firsts[1:], strict=False))


@given(bounds, st.randoms())
def test_the_same_offsets_give_the_same_splits(found: Bounds, random: st.DataObject) -> None:
    shuffled = list(found.items())
    random.shuffle(shuffled)
    assert plan_splits(*ends(found)) == plan_splits(*ends(dict(shuffled)))


@given(bounds)
def test_splits_survive_pickling(found: Bounds) -> None:
    splits = plan_splits(*ends(found))
    assert pickle.loads(pickle.dumps(splits)) == splits
