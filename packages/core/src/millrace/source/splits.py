"""Splits: what one Spark task reads."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.contracts import TopicPartition


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
