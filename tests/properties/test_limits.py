from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import TopicPartition
from millrace.source.enumerator.admission_control import limit_records

Bounds = dict[TopicPartition, tuple[int, int]]

partitions = st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 5))
sizes = st.integers(0, 3) | st.integers(0, 100) | st.integers(0, 10**12)
bounds = st.dictionaries(partitions, st.tuples(st.integers(0, 10**12), sizes), max_size=12)
limits = st.integers(1, 12) | st.integers(1, 10**13)


def split(found: Bounds) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    return {p: low for p, (low, _) in found.items()}, {p: low + size for p, (low, size) in found.items()}


@given(bounds, limits)
def test_as_much_as_may_be_is_taken_and_no_more(found: Bounds, max_rows: int) -> None:
    start, end = split(found)
    limited = limit_records(start, end, max_rows)
    backlog = sum(size for _, size in found.values())
    assert sum(limited[p] - start[p] for p in limited) == min(max_rows, backlog)


@given(bounds, limits)
def test_every_partition_ends_between_its_start_and_its_end(found: Bounds, max_rows: int) -> None:
    start, end = split(found)
    limited = limit_records(start, end, max_rows)
    assert limited.keys() == end.keys()
    assert all(start[p] <= limited[p] <= end[p] for p in limited)


@given(bounds, limits)
def test_none_starves_when_there_is_one_for_each(found: Bounds, max_rows: int) -> None:
    start, end = split(found)
    waiting = [p for p, (_, size) in found.items() if size]
    limited = limit_records(start, end, max(max_rows, len(waiting)))
    assert all(limited[p] > start[p] for p in waiting)


@given(bounds, limits)
def test_one_that_has_more_left_gets_no_less(found: Bounds, max_rows: int) -> None:
    start, end = split(found)
    limited = limit_records(start, end, max_rows)
    by_size = sorted((size, limited[p] - start[p]) for p, (_, size) in found.items())
    for (small, few), (large, many) in pairwise(by_size):
        assert few <= many + (small == large)


@given(bounds, limits, st.randoms())
def test_the_order_of_the_partitions_makes_no_difference(found: Bounds, max_rows: int, random: st.DataObject) -> None:
    start, end = split(found)
    shuffled = list(end.items())
    random.shuffle(shuffled)
    assert limit_records(start, end, max_rows) == limit_records(start, dict(shuffled), max_rows)


@given(
    st.dictionaries(partitions, st.tuples(st.integers(0, 10**12), st.integers(0, 60)), max_size=12), st.integers(1, 20)
)
def test_batch_after_batch_everything_is_read(found: Bounds, max_rows: int) -> None:
    position, end = split(found)
    backlog = sum(size for _, size in found.values())
    for _ in range(-(-backlog // max_rows)):
        assert position != end
        position = limit_records(position, end, max_rows)
    assert position == end
