"""Splits: what one Spark task reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from millrace.contracts import TopicPartition
from millrace.source.enumerator.stream_offset import Offsets

LARGEST_SPLIT = 1_000_000
"""Offsets: a larger range is cut, so that a backlog in few partitions uses all cores and a lost task costs little."""

SMALL_RANGE = 10_000
"""Offsets: ranges that together stay below this share a task, since starting one costs more than reading them."""


@dataclass(frozen=True)
class OffsetRange:
    """The offsets from ``start`` up to, but not with, ``end`` of one partition."""

    partition: TopicPartition
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.partition} [{self.start}, {self.end})"


@dataclass(frozen=True)
class Split:
    """The ranges that one task reads, each of another partition."""

    ranges: tuple[OffsetRange, ...]


def plan_splits(start: Offsets, end: Offsets, parallelism: int = 1, max_records: int = LARGEST_SPLIT) -> list[Split]:
    """The splits of a batch: a function of its arguments alone, so that a replayed batch has the same tasks.

    Args:
        start: Where each partition begins.
        end: Where each partition ends; of the same partitions or fewer.
        parallelism: How many splits there must be at least, as far as there are offsets.
        max_records: How many offsets a split has at most, above which a range is cut.
    """
    ranges = [
        OffsetRange(partition, start[partition], end[partition])
        for partition in sorted(end)
        if end[partition] > start[partition]
    ]
    largest = max(1, min(max_records, LARGEST_SPLIT, sum(map(len, ranges)) // parallelism))
    small = min(SMALL_RANGE, largest)
    large = [Split((piece,)) for found in ranges if len(found) >= small for piece in _cut(found, largest)]
    return large + _share((found for found in ranges if len(found) < small), small)


def _cut(whole: OffsetRange, largest: int) -> list[OffsetRange]:
    pieces = -(-len(whole) // largest)
    bounds = [whole.start + len(whole) * piece // pieces for piece in range(pieces + 1)]
    return [OffsetRange(whole.partition, low, high) for low, high in pairwise(bounds)]


def _share(ranges: Iterable[OffsetRange], most: int) -> list[Split]:
    shared: list[list[OffsetRange]] = []
    size = most
    for found in ranges:
        if size + len(found) > most:
            shared.append([])
            size = 0
        shared[-1].append(found)
        size += len(found)
    return [Split(tuple(group)) for group in shared]
