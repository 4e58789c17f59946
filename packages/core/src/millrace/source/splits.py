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
        restart_offsets: With state, for each range the first offset of its partition from which a restarted query may
            read again: states from there on are kept.
    """

    ranges: tuple[OffsetRange, ...]
    is_stream: bool = False
    state: StateId | None = None
    restart_offsets: tuple[int, ...] = ()


def without_topics(split: Split, topics: Collection[str]) -> Split:
    """Return a split without its ranges in some topics."""
    remaining = [at for at, each in enumerate(split.ranges) if each.partition.topic not in topics]
    restart_offsets = tuple(split.restart_offsets[at] for at in remaining) if split.restart_offsets else ()
    return replace(split, ranges=tuple(split.ranges[at] for at in remaining), restart_offsets=restart_offsets)
