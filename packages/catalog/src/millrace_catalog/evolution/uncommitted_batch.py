"""The micro-batch that a streaming query has planned but not done, from its checkpoint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from millrace.checkpoint import StreamOffset, parse_offset_log


class Files(Protocol):
    """The files of a checkpoint."""

    def names(self, name: str = "") -> list[str]:
        """What is in a folder."""

    def read(self, name: str) -> str:
        """The text of a file."""


class Range(NamedTuple):
    """Offsets of a partition, from ``start`` up to, but not with, ``end``; a start of None is the log's beginning."""

    partition: int
    start: int | None
    end: int


def pending_ranges(files: Files, topic: str) -> list[Range]:
    """What is read of a topic by the micro-batch that is planned and not done; nothing if there is none.

    Args:
        files: The checkpoint.
        topic: The topic.
    """
    planned, done = _numbers(files.names("offsets")), _numbers(files.names("commits"))
    if not planned or max(planned) in done:
        return []
    number = max(planned)
    ends = parse_offset_log(files.read(f"offsets/{number}"))
    starts = parse_offset_log(files.read(f"offsets/{number - 1}")) if number - 1 in planned else {}
    ranges: dict[int, Range] = {}
    for source, end in ends.items():
        begin = end.starting_offsets(starts.get(source, StreamOffset({})))
        for partition, stop in end.positions.items():
            if partition.topic == topic:
                of_source = Range(partition.partition, begin.get(partition), stop)
                ranges[of_source.partition] = _union(ranges.get(of_source.partition, of_source), of_source)
    return [each for _, each in sorted(ranges.items()) if each.start != each.end]


def _numbers(names: Iterable[str]) -> set[int]:
    return {int(name) for name in names if name.isdigit()}


def _union(one: Range, other: Range) -> Range:
    start = None if one.start is None or other.start is None else min(one.start, other.start)
    return Range(one.partition, start, max(one.end, other.end))
