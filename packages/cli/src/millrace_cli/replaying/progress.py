"""The dead letters that were replayed, kept as offsets of a consumer group and their metadata.

The committed offset of a partition is the first letter that was not replayed. Since letters can be selected, later
ones may have been: they are in its metadata, with the id of the topic: one that was created again has other letters.
"""

from __future__ import annotations

import base64
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from millrace.errors import ClientError

MAX_METADATA = 4_000
"""Characters; brokers take 4,096 bytes (``offset.metadata.max.bytes``)."""

_COMPRESSED = "z"
_COMPRESSED_FROM = 200


class OffsetRanges:
    """A set of offsets.

    Args:
        ranges: Ranges of offsets, each with its first one and the one after its last; in order, apart from each other.
    """

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []
        for start, stop in ranges:
            self.add(start, stop)

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self._stops[index]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._starts, self._stops, strict=True))

    def add(self, start: int, stop: int) -> None:
        """Add the offsets from one up to another, exclusively; none where that is not greater."""
        if stop <= start:
            return
        first, last = bisect_left(self._stops, start), bisect_right(self._starts, stop)
        if first < last:
            start, stop = min(start, self._starts[first]), max(stop, self._stops[last - 1])
        self._starts[first:last], self._stops[first:last] = [start], [stop]


def encode_progress(done: OffsetRanges, begin: int, topic_id: str) -> tuple[int, str]:
    """Return the offset to commit for a partition, and its metadata.

    Args:
        done: What was replayed.
        begin: The earliest offset of the partition's log.
        topic_id: The id of the topic.

    Raises:
        ClientError: The letters that were replayed lie in too many pieces to be remembered.
    """
    offset, pieces, position = begin, [], begin
    for start, stop in done:
        if start <= offset:
            offset = position = max(offset, stop)
        else:
            pieces.append(f"{start - position}+{stop - start}")
            position = stop
    text = ",".join(pieces)
    if len(text) > _COMPRESSED_FROM:
        text = _COMPRESSED + base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    metadata = f"{topic_id} {text}"
    if len(metadata) > MAX_METADATA:
        raise ClientError(
            f"the replayed letters lie in {len(pieces)} pieces, more than a consumer group can remember: select ranges "
            f"of them, by --offsets, --since or --until, or all of them"
        )
    return offset, metadata


def decode_progress(offset: int, metadata: str, topic_id: str) -> OffsetRanges:
    """Return what was replayed, the reverse of `encode_progress`; nothing where the topic is another one.

    Raises:
        ClientError: The offset was committed by somebody else.
    """
    committed_id, _, text = metadata.partition(" ")
    try:
        if text.startswith(_COMPRESSED):
            text = zlib.decompress(base64.b85decode(text[1:])).decode()
        pieces = [(int(gap), int(length)) for gap, length in (piece.split("+") for piece in text.split(",") if piece)]
    except (ValueError, zlib.error):
        committed_id = ""
    if not committed_id:
        raise ClientError(
            "the consumer group has offsets of this topic that no replay has committed: give another one by --group"
        )
    if committed_id != topic_id:
        return OffsetRanges()
    done, position = OffsetRanges([(0, offset)]), offset
    for gap, length in pieces:
        done.add(position + gap, position + gap + length)
        position += gap + length
    return done
