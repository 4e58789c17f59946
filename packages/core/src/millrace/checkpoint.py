"""The offset of a stream, as it stands in Spark's checkpoint and in a query's progress.

No other module knows its JSON: the source writes and reads it, metrics and the end of a bounded stream find it in a
query's progress, and `millrace.offset_log` in Spark's checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from millrace.contracts import TopicPartition
from millrace.errors import MillraceError

VERSION = 1

UNKNOWN_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""The topic id of all zeros, by which brokers before 2.8 answer; it says nothing."""

Offsets = Mapping[TopicPartition, int]


@dataclass(frozen=True)
class GoneTopics:
    """The end of what a stream has read of topics, or partitions, that it no longer sees; it may see them again.

    As JSON: ``{"topics": {"orders": {"0": 42}}, "since": {"orders": 1795814626}}``, and the rest as of `StreamOffset`.

    Attributes:
        positions: As of `StreamOffset`, as are the others.
        since: When each topic, or some of its partitions, went, in seconds since 1970.
    """

    positions: Offsets = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    leader_epochs: Offsets = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON."""
        return {
            "topics": nest_by_topic(self.positions),
            "since": dict(sorted(self.since.items())),
            **_nest_all({"epochs": self.leader_epochs}),
            **_ids_to_json(self.topic_ids),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> GoneTopics:
        """Parse them."""
        positions, epochs = (flatten_by_topic(stored.get(name, {})) for name in ("topics", "epochs"))
        return cls(positions, _ids_from_json(stored), epochs, stored.get("since", {}))


@dataclass(frozen=True)
class StreamOffset:
    """The positions of a stream in its partitions.

    As JSON: ``{"v": 1, "topics": {"orders": {"0": 42}}}``, with ``"from"``, ``"new"``, ``"stop"`` and ``"epochs"`` of
    the same shape as ``"topics"``, ``"ids": {"orders": "XNjw7E..."}``, ``"owner"`` and ``"gone"``, where they are not
    empty.

    Attributes:
        positions: For each partition the offset of the record to read next.
        start_overrides: Where the batch that ends at this offset begins those partitions that it does not begin where
            the one before ended: new ones, those that had lost data, and all of the first batch, before which none has
            ended. A replay after a failure begins them there as well.
        stopping_offsets: For a bounded stream where each partition stops; empty for an unbounded one.
        topic_ids: The ids of the topics (KIP-516), where they are known. A topic that was deleted and created again has
            another one.
        owner: A name that the stream gave itself when it began, by which others that use its group know it.
        leader_epochs: For each partition the epoch of a leader whose log held all records before its position
            (KIP-320), where it is known. A later leader may lack some of them.
        gone: The positions in topics that are not there at the moment.
        discovered: Where partitions begin that micro-batches before this one have added. A restart needs them if the
            offset log leaves those micro-batches out, as with asynchronous progress tracking.
    """

    positions: Offsets
    start_overrides: Offsets = field(default_factory=dict)
    stopping_offsets: Offsets = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    leader_epochs: Offsets = field(default_factory=dict)
    gone: GoneTopics = field(default_factory=GoneTopics)
    discovered: Offsets = field(default_factory=dict)

    def starting_offsets(self, previous: StreamOffset) -> dict[TopicPartition, int]:
        """Return where the batch begins that ends here.

        Args:
            previous: The offset before this one in the offset log.
        """
        return {**self.discovered, **previous.positions, **self.start_overrides}

    @property
    def is_bounded(self) -> bool:
        """True if the stream stops somewhere."""
        return bool(self.stopping_offsets)

    def has_stopped(self, partition: TopicPartition) -> bool:
        """Return whether a bounded stream has read all of a partition that it wants; False for an unbounded one."""
        return self.is_bounded and self.positions[partition] >= self.stopping_offsets.get(partition, 0)

    def to_json(self) -> dict[str, Any]:
        """Return the offset as Spark stores it."""
        optional = {
            "from": self.start_overrides,
            "new": self.discovered,
            "stop": self.stopping_offsets,
            "epochs": self.leader_epochs,
        }
        return {
            "v": VERSION,
            "topics": nest_by_topic(self.positions),
            **_nest_all(optional),
            **_ids_to_json(self.topic_ids),
            **({"owner": self.owner} if self.owner else {}),
            **({"gone": self.gone.to_json()} if self.gone.positions else {}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StreamOffset:
        """Parse an offset that Spark stored.

        Raises:
            MillraceError: The checkpoint was not written by millrace, or by a newer one.
        """
        version = stored.get("v")
        if "v" not in stored:
            raise MillraceError(
                f"the checkpoint holds an offset of another source: {dict(stored)}. If it is of Spark's own Kafka "
                f"connector, `millrace checkpoint import` makes a copy from which millrace goes on. Otherwise use "
                f"another checkpoint location"
            )
        if version != VERSION:
            raise MillraceError(
                f"the checkpoint holds an offset of version {version!r}, this millrace reads version {VERSION}: "
                f"{dict(stored)}. Use the millrace that wrote it, or another checkpoint location"
            )
        names = ("topics", "from", "stop", "epochs", "new")
        positions, overrides, stop, epochs, new = (flatten_by_topic(stored.get(name, {})) for name in names)
        gone = GoneTopics.from_json(stored.get("gone", {}))
        return cls(positions, overrides, stop, _ids_from_json(stored), stored.get("owner", ""), epochs, gone, new)


@dataclass(frozen=True)
class ReportedOffset:
    """An offset of millrace in a query's progress.

    Attributes:
        offset: The offset.
        metrics: The metrics that the source reports beside its latest offset; see `millrace.monitoring.progress`.
    """

    offset: StreamOffset
    metrics: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return what Spark shows in a query's progress."""
        return {**self.offset.to_json(), "metrics": dict(self.metrics)}


def parse_reported_offset(reported: str | Mapping[str, Any] | None) -> ReportedOffset | None:
    """Parse an offset in a query's progress, or in the offset log of its checkpoint.

    Args:
        reported: The offset, as JSON or parsed already.

    Returns:
        None for the offset of another source, and where there is none.

    Raises:
        MillraceError: A newer millrace wrote it.
    """
    try:
        stored = json.loads(reported or "null") if isinstance(reported, str) else reported
    except ValueError:
        return None
    if not isinstance(stored, Mapping) or "v" not in stored or not isinstance(stored.get("topics"), Mapping):
        return None
    return ReportedOffset(StreamOffset.from_json(stored), stored.get("metrics", {}))


def nest_by_topic(offsets: Offsets) -> dict[str, dict[str, int]]:
    """Return offsets as JSON has them: by topic, then by partition."""
    nested: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        nested.setdefault(topic, {})[str(partition)] = offset
    return nested


def flatten_by_topic(nested: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    """Return offsets by partition that JSON has by topic, then by partition."""
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in nested.items()
        for partition, offset in partitions.items()
    }


def _nest_all(named: Mapping[str, Offsets]) -> dict[str, Any]:
    return {name: nest_by_topic(offsets) for name, offsets in named.items() if offsets}


def _ids_to_json(ids: Mapping[str, str]) -> dict[str, Any]:
    return {"ids": dict(sorted(ids.items()))} if ids else {}


def _ids_from_json(stored: Mapping[str, Any]) -> dict[str, str]:
    # Earlier versions stored what brokers before 2.8 answered
    return {topic: topic_id for topic, topic_id in stored.get("ids", {}).items() if topic_id != UNKNOWN_TOPIC_ID}
