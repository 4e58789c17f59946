"""Splits: what one Spark task reads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from millrace.contracts import TopicPartition
from millrace.source.state_files import StateId


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
    """The ranges that one task reads, each of another partition.

    Attributes:
        ranges: The ranges.
        is_stream: Whether they are of a micro-batch.
        state: The name of the stream's state, for a table whose changes have old rows; None without state.
    """

    ranges: tuple[OffsetRange, ...]
    is_stream: bool = False
    state: StateId | None = None


def without_topics(split: Split, topics: Collection[str]) -> Split:
    """Return a split without its ranges in some topics."""
    return replace(split, ranges=tuple(each for each in split.ranges if each.partition.topic not in topics))
