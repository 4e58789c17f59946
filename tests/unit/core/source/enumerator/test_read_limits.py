from __future__ import annotations

import pytest

from millrace.contracts import TopicPartition
from millrace.source.enumerator.admission_control import limit_records

A, B, C = (TopicPartition("t", number) for number in range(3))
START = {A: 100, B: 0, C: 7}


def taken(backlog: dict[TopicPartition, int], max_rows: int) -> dict[TopicPartition, int]:
    end = {partition: START[partition] + count for partition, count in backlog.items()}
    limited = limit_records(START, end, max_rows)
    return {partition: limited[partition] - START[partition] for partition in limited}


@pytest.mark.parametrize("max_rows", [30, 31, 10**9])
def test_what_fits_is_taken_whole(max_rows: int) -> None:
    assert taken({A: 10, B: 20, C: 0}, max_rows) == {A: 10, B: 20, C: 0}


def test_the_limit_is_shared_in_proportion() -> None:
    assert taken({A: 1001, B: 3001, C: 1}, 403) == {A: 101, B: 301, C: 1}


def test_a_small_partition_beside_a_big_one_gets_at_least_one() -> None:
    assert taken({A: 1_000_000, B: 1, C: 2}, 10) == {A: 8, B: 1, C: 1}


def test_a_limit_below_the_number_of_partitions_goes_to_the_largest_one_each() -> None:
    assert taken({A: 5, B: 7, C: 6}, 2) == {A: 0, B: 1, C: 1}


def test_of_equal_partitions_the_first_come_first() -> None:
    assert taken({C: 5, B: 5, A: 5}, 2) == {A: 1, B: 1, C: 0}


def test_a_partition_with_nothing_left_stays_where_it_is() -> None:
    assert taken({A: 0, B: 9, C: 0}, 4) == {A: 0, B: 4, C: 0}


def test_there_may_be_nothing_at_all() -> None:
    assert limit_records({}, {}, 5) == {}
