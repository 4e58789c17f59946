"""Records without a key fill one partition's batch after the other, and all partitions evenly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millrace.kafka.sticky_partitioner import BatchLimits, StickyPartitioner

LIMITS = BatchLimits(records=10, bytes=100)

writes = st.lists(st.lists(st.integers(0, 60), max_size=40), min_size=1, max_size=20)
"""The sizes of the values of each write."""


def runs(partitioner: StickyPartitioner, sizes: list[int]) -> list[tuple[int, list[int]]]:
    """Produce values of these sizes; return the partition and the sizes of each run."""
    offsets = np.cumsum([7, *sizes], dtype=np.int32)
    first, found = 0, []
    while first < len(sizes):
        partition, stop = partitioner.next_run(offsets, first)
        partitioner.add(stop - first, int(offsets[stop]) - int(offsets[first]))
        found.append((partition, sizes[first:stop]))
        first = stop
    return found


@given(writes, st.integers(1, 5))
def test_every_record_is_in_a_run_that_no_batch_is_too_small_for(all_sizes, count):
    partitioner = StickyPartitioner(tuple(range(count)), LIMITS)
    for sizes in all_sizes:
        found = runs(partitioner, sizes)
        assert [size for _, run in found for size in run] == sizes
        for _, run in found:
            assert 0 < len(run) <= LIMITS.records
            # The last one may be larger than what is left; empty ones may follow
            assert sum(run[:-1]) <= LIMITS.bytes


@given(writes, st.integers(2, 5))
def test_all_partitions_get_about_as_much(all_sizes, count):
    partitioner = StickyPartitioner(tuple(range(count)), LIMITS)
    filled = dict.fromkeys(range(count), 0.0)
    for sizes in all_sizes:
        for partition, run in runs(partitioner, sizes):
            filled[partition] += max(len(run) / LIMITS.records, sum(run) / LIMITS.bytes)
    # The partition with the most had the least before its last batch: runs that filled it in part by number and in part
    # by size, and a last record that was too large by up to 59 bytes
    assert max(filled.values()) - min(filled.values()) <= 2.6


@given(writes, st.integers(1, 5))
def test_a_run_ends_where_its_batch_is_full_or_nothing_is_left(all_sizes, count):
    partitioner = StickyPartitioner(tuple(range(count)), LIMITS)
    batch = [0, 0]
    for sizes in all_sizes:
        found = runs(partitioner, sizes)
        for number, (_, run) in enumerate(found):
            batch = [batch[0] + len(run), batch[1] + sum(run)]
            is_full = batch[0] >= LIMITS.records or batch[1] >= LIMITS.bytes
            assert is_full or number == len(found) - 1
            if is_full:
                batch = [0, 0]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=200))
def test_the_partition_changes_only_when_its_batch_is_full(sizes):
    partitioner = StickyPartitioner((0, 1, 2), LIMITS)
    found = [run for size in sizes for run in runs(partitioner, [size])]
    batch = [0, 0]
    for (partition, run), (following, _) in pairwise(found):
        batch = [batch[0] + len(run), batch[1] + sum(run)]
        if batch[0] >= LIMITS.records or batch[1] >= LIMITS.bytes:
            batch = [0, 0]
        else:
            assert following == partition
