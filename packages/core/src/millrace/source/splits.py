"""Splits: what one Spark task reads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from millrace.contracts import TopicPartition
from millrace.source.state_files import StateId


@dataclass(frozen=True)
class StreamLog:
    """The log of a partition as the plan of a micro-batch knows it.

    While topic id and leader epoch stay the same, records at the same offsets do so, too.

    Attributes:
        stream: The name that the stream gave itself.
        topic_id: The id of the topic.
        leader_epoch: The epoch of the partition's leader.
        value_bytes: The mean size of the values that the stream has read of it, or a guess.
        is_last: Whether the next micro-batch goes on where the range ends.
        goes_on: Whether there was more to read behind the range, as far as is known.
    """

    stream: str
    topic_id: str
    leader_epoch: int
    value_bytes: float = 200.0
    is_last: bool = True
    goes_on: bool = False


@dataclass(frozen=True)
class OffsetRange:
    """The offsets from ``start`` up to, but not with, ``end`` of one partition.

    Attributes:
        partition: The partition.
        start: The first offset.
        end: The offset after the last one.
        log: The log of a stream's range, which tells how to fetch it, not what; None for others.
    """

    partition: TopicPartition
    start: int
    end: int
    log: StreamLog | None = field(default=None, compare=False)

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
    remaining = [at for at, range_ in enumerate(split.ranges) if range_.partition.topic not in topics]
    restart_offsets = tuple(split.restart_offsets[at] for at in remaining) if split.restart_offsets else ()
    return replace(split, ranges=tuple(split.ranges[at] for at in remaining), restart_offsets=restart_offsets)
