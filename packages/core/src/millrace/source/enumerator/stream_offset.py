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
    ``"topics"``, ``"ids": {"orders": "XNjw7E..."}`` and ``"owner"``, where they are not empty.

    Attributes:
        next: For each partition the offset of the record to read next.
        joined: Where the batch that ends at this offset begins those partitions that it does not begin where the one
            before ended: new ones, those that had lost data, and all of the first batch, before which none has ended.
            A replay after a failure begins them there as well.
        stop: For a bounded stream where each partition stops; empty for an unbounded one.
        ids: The topics' ids, by which a topic is known that was deleted and made again.
        owner: A name that the stream gave itself when it began, by which others that use its group know it.
    """

    next: Offsets
    joined: Offsets = field(default_factory=dict)
    stop: Offsets = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""

    def begin(self, before: StreamOffset) -> dict[TopicPartition, int]:
        """Where the batch begins that ends here, ``before`` being the offset before this one."""
        return {**before.next, **self.joined}

    def to_json(self) -> dict[str, Any]:
        """The offset as Spark stores it."""
        optional = {"from": self.joined, "stop": self.stop}
        return {
            "v": VERSION,
            "topics": nest(self.next),
            **{name: nest(offsets) for name, offsets in optional.items() if offsets},
            **({"ids": dict(sorted(self.ids.items()))} if self.ids else {}),
            **({"owner": self.owner} if self.owner else {}),
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
        next_, joined, stop = (_flatten(stored.get(name, {})) for name in ("topics", "from", "stop"))
        return cls(next_, joined, stop, stored.get("ids", {}), stored.get("owner", ""))


def held(begin: int, end: int) -> str:
    """What a log holds that begins at one offset and ends before another, in words."""
    return f"holds {begin} to {end - 1}" if end > begin else "is empty"


def nest(offsets: Offsets) -> dict[str, dict[str, int]]:
    """Offsets as JSON has them: by topic, then by partition."""
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
