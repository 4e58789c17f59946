"""Splits: what one Spark task reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from millrace.contracts import TopicPartition
from millrace.source.offsets import Offsets

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
    """The ranges that one task reads, each of another partition unless it is the only one."""

    ranges: tuple[OffsetRange, ...]


def plan_splits(start: Offsets, end: Offsets) -> list[Split]:
    """The splits of a batch: a function of its offsets alone, so that a replayed batch has the same tasks."""
    ranges = [
        OffsetRange(partition, start[partition], end[partition])
        for partition in sorted(end)
        if end[partition] > start[partition]
    ]
    large = [Split((piece,)) for found in ranges if len(found) >= SMALL_RANGE for piece in _cut(found)]
    return large + _share(found for found in ranges if len(found) < SMALL_RANGE)


def _cut(whole: OffsetRange) -> list[OffsetRange]:
    pieces = -(-len(whole) // LARGEST_SPLIT)
    bounds = [whole.start + len(whole) * piece // pieces for piece in range(pieces + 1)]
    return [OffsetRange(whole.partition, low, high) for low, high in pairwise(bounds)]


def _share(ranges: Iterable[OffsetRange]) -> list[Split]:
    shared: list[list[OffsetRange]] = []
    size = SMALL_RANGE
    for found in ranges:
        if size + len(found) > SMALL_RANGE:
            shared.append([])
            size = 0
        shared[-1].append(found)
        size += len(found)
    return [Split(tuple(group)) for group in shared]
