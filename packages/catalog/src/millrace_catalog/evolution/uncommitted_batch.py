"""The micro-batch that a streaming query has planned but not committed, read from its checkpoint."""

from __future__ import annotations

from typing import NamedTuple

from millrace.checkpoint import StreamOffset
from millrace.offset_log import CheckpointFiles, OffsetLogEntry, find_restart_point


class UncommittedRange(NamedTuple):
    """Offsets of a partition from ``start`` to before ``end``; a start of None is the beginning of the log."""

    partition: int
    start: int | None
    end: int


def uncommitted_ranges(checkpoint: CheckpointFiles, topic: str) -> list[UncommittedRange]:
    """Return the offsets that the uncommitted micro-batch reads of a topic; empty when there is no such batch.

    Args:
        checkpoint: Files of the query's checkpoint.
        topic: Name of the topic.
    """
    point = find_restart_point(checkpoint.names("offsets"), checkpoint.names("commits"))
    if point is None or point.repeated is None:
        return []
    ends = _offsets(checkpoint, point.repeated)
    starts = {} if point.done is None else _offsets(checkpoint, point.done)
    ranges: dict[int, UncommittedRange] = {}
    for source, end in ends.items():
        starting_offsets = end.starting_offsets(starts.get(source, StreamOffset({})))
        for at, stop in end.positions.items():
            if at.topic == topic:
                added = UncommittedRange(at.partition, starting_offsets.get(at), stop)
                ranges[at.partition] = _union(ranges.get(at.partition, added), added)
    return [range_ for _, range_ in sorted(ranges.items()) if range_.start != range_.end]


def _offsets(checkpoint: CheckpointFiles, batch: int) -> dict[str, StreamOffset]:
    return OffsetLogEntry.parse(checkpoint.read(f"offsets/{batch}")).stream_offsets()


def _union(one: UncommittedRange, other: UncommittedRange) -> UncommittedRange:
    start = None if one.start is None or other.start is None else min(one.start, other.start)
    return UncommittedRange(one.partition, start, max(one.end, other.end))
