"""Divide the offsets of a batch into splits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from millrace.checkpoint import Offsets
from millrace.source.splits import OffsetRange, Split

MAX_SPLIT_RECORDS = 1_000_000
"""Offsets: a larger range is cut, so that a backlog in few partitions uses all cores and a lost task costs little."""

SMALL_RANGE_RECORDS = 10_000
"""Offsets: ranges that together stay below this share a task, since starting one costs more than reading them."""


def plan_splits(
    start: Offsets,
    end: Offsets,
    parallelism: int = 1,
    max_records: int = MAX_SPLIT_RECORDS,
    *,
    cuts_partitions: bool = True,
) -> list[Split]:
    """Plan the splits of a batch: a function of its arguments alone, so that a replayed batch has the same tasks.

    Args:
        start: Where each partition begins.
        end: Where each partition ends; of the same partitions or fewer.
        parallelism: The minimum number of splits, where there are enough offsets.
        max_records: How many offsets a split has at most, above which a range is cut.
        cuts_partitions: Whether ranges may be cut at all; else one task reads a partition in order.
    """
    ranges = [
        OffsetRange(partition, start[partition], end[partition])
        for partition in sorted(end)
        if end[partition] > start[partition]
    ]
    max_size = max(1, min(max_records, MAX_SPLIT_RECORDS, sum(map(len, ranges)) // parallelism))
    small_size = min(SMALL_RANGE_RECORDS, max_size)
    if not cuts_partitions:
        max_size = max(map(len, ranges), default=1)
    large = [Split((piece,)) for range_ in ranges if len(range_) >= small_size for piece in _cut(range_, max_size)]
    return large + _group((range_ for range_ in ranges if len(range_) < small_size), small_size)


def _cut(whole: OffsetRange, max_size: int) -> list[OffsetRange]:
    pieces = -(-len(whole) // max_size)
    bounds = [whole.start + len(whole) * piece // pieces for piece in range(pieces + 1)]
    return [OffsetRange(whole.partition, low, high) for low, high in pairwise(bounds)]


def _group(ranges: Iterable[OffsetRange], max_size: int) -> list[Split]:
    groups: list[list[OffsetRange]] = []
    size = max_size
    for range_ in ranges:
        if size + len(range_) > max_size:
            groups.append([])
            size = 0
        groups[-1].append(range_)
        size += len(range_)
    return [Split(tuple(group)) for group in groups]
