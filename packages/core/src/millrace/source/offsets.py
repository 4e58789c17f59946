"""The offset of a stream: how far it has read, as it stands in Spark's checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from millrace.contracts import TopicPartition
from millrace.errors import MillraceError

VERSION = 1
Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True)
class StreamOffset:
    """How far a stream has read.

    As JSON: ``{"v": 1, "topics": {"orders": {"0": 42}}}``, with ``"from"`` and ``"stop"`` of the same shape as
    ``"topics"`` where they are not empty.

    Attributes:
        next: For each partition the offset of the record to read next.
        joined: For the partitions that this offset is the first to have: where they began. A batch that ends at this
            offset starts them there, so that a replay after a failure starts them at the same place.
        stop: For a bounded stream where each partition stops; empty for an unbounded one.
    """

    next: Offsets
    joined: Offsets = field(default_factory=dict)
    stop: Offsets = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The offset as Spark stores it."""
        optional = {"from": self.joined, "stop": self.stop}
        return {
            "v": VERSION,
            "topics": _nest(self.next),
            **{name: _nest(offsets) for name, offsets in optional.items() if offsets},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StreamOffset:
        """The offset that Spark stored.

        Raises:
            MillraceError: The checkpoint was not written by millrace, or by a newer one.
        """
        version = stored.get("v")
        if version != VERSION:
            raise MillraceError(
                f"the checkpoint holds an offset of version {version!r}, this millrace reads version {VERSION}: "
                f"{dict(stored)}. Use the millrace that wrote it, or another checkpoint location"
            )
        return cls(_flatten(stored["topics"]), _flatten(stored.get("from", {})), _flatten(stored.get("stop", {})))


def held(begin: int, end: int) -> str:
    """What a log holds that begins at one offset and ends before another, in words."""
    return f"holds {begin} to {end - 1}" if end > begin else "is empty"


def _nest(offsets: Offsets) -> dict[str, dict[str, int]]:
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested


def _flatten(nested: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in nested.items()
        for partition, offset in partitions.items()
    }
