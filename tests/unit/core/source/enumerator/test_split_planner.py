from __future__ import annotations

from millrace.contracts import TopicPartition
from millrace.source.enumerator.split_planner import MAX_SPLIT_RECORDS, SMALL_RANGE_RECORDS, plan_splits
from millrace.source.splits import OffsetRange, Split

A, B, C = (TopicPartition("t", number) for number in range(3))


def lengths(splits: list[Split]) -> list[list[int]]:
    return [[len(found) for found in split.ranges] for split in splits]


def test_nothing_new_gives_no_split() -> None:
    assert plan_splits({A: 5, B: 3}, {A: 5, B: 3}) == []
    assert plan_splits({}, {}) == []


def test_a_range_of_medium_size_is_a_split() -> None:
    end = 5 + SMALL_RANGE_RECORDS
    assert plan_splits({A: 5}, {A: end}) == [Split((OffsetRange(A, 5, end),))]


def test_small_ranges_share_a_split_up_to_the_size_of_a_small_range() -> None:
    small = SMALL_RANGE_RECORDS // 2
    assert lengths(plan_splits({A: 0, B: 0, C: 0}, {A: small, B: small, C: 1})) == [[small, small], [1]]


def test_a_large_range_is_cut_into_even_pieces() -> None:
    assert lengths(plan_splits({A: 0}, {A: 2 * MAX_SPLIT_RECORDS + 2})) == [[666_667], [666_667], [666_668]]


def test_a_range_of_the_largest_size_is_not_cut() -> None:
    assert lengths(plan_splits({A: 0}, {A: MAX_SPLIT_RECORDS})) == [[MAX_SPLIT_RECORDS]]


def test_large_ranges_come_before_shared_ones() -> None:
    splits = plan_splits({A: 0, B: 0}, {A: 3, B: SMALL_RANGE_RECORDS})
    assert [split.ranges[0].partition for split in splits] == [B, A]


def test_an_end_behind_the_start_is_nothing_to_read() -> None:
    assert plan_splits({A: 5}, {A: 4}) == []


def test_a_range_is_told_by_partition_and_offsets() -> None:
    assert str(OffsetRange(A, 3, 9)) == "t-0 [3, 9)"
