"""Go on where a stream was in a topic that was not there for a while, such as one whose ACL was made anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from millrace.checkpoint import GoneTopics, Offsets, StreamOffset
from millrace.contracts import TopicPartition
from millrace.source.data_loss_messages import logger
from millrace.source.enumerator.subscriber import SubscribedPartitions

KEPT_DAYS = 7
"""Days for which positions in topics that are gone are kept; as long as brokers keep those of a group without members,
by default."""

MAX_KEPT_PARTITIONS = 5_000
"""The most such positions: each is in every offset of the checkpoint."""

_DAY_S = 24 * 60 * 60


def with_returned(start: StreamOffset, subscribed: SubscribedPartitions) -> StreamOffset:
    """Return a stream's offset with its positions in topics that are back.

    A topic that was created again is another one, whose old positions are dropped.
    """
    gone = start.gone
    back = [p for p in subscribed.partitions if p in gone.positions]
    if not back:
        return start
    others = [p for p in back if subscribed.has_another(p.topic, gone.topic_ids)]
    returned = {p: gone.positions[p] for p in back if p not in others}
    ids = {topic: topic_id for topic, topic_id in gone.topic_ids.items() if topic in {p.topic for p in returned}}
    return dataclasses.replace(
        start,
        positions={**start.positions, **returned},
        # A bounded stream reads nothing of what is new
        stopping_offsets={**start.stopping_offsets, **{p: 0 for p in others if start.is_bounded}},
        topic_ids={**start.topic_ids, **ids},
        leader_epochs={**start.leader_epochs, **_of(gone.leader_epochs, returned)},
        gone=_only(gone, {p: at for p, at in gone.positions.items() if p not in back}),
    )


def tell_returned(returned: Offsets) -> None:
    """Log which partitions are read again."""
    for partition, offset in sorted(returned.items()):
        logger.warning("%s is there again, and is read from offset %d, where it was left", partition, offset)


def still_gone(start: StreamOffset, end: Offsets, now: float) -> GoneTopics:
    """Return what to keep of partitions that are not there, after a look at the topics.

    Args:
        start: How far the stream has read, with what is back.
        end: Where the partitions end that are there.
        now: Seconds since 1970.
    """
    leaving = {p: offset for p, offset in start.positions.items() if p not in end}
    before = start.gone
    since = {**before.since, **{p.topic: int(now) for p in leaving}}
    merged = GoneTopics(
        {**before.positions, **leaving},
        {**before.topic_ids, **start.topic_ids},
        {**before.leader_epochs, **_of(start.leader_epochs, leaving)},
        since,
    )
    recent = (p for p in merged.positions if now - since[p.topic] < KEPT_DAYS * _DAY_S)
    newest = set(sorted(recent, key=lambda p: (-since[p.topic], p))[:MAX_KEPT_PARTITIONS])
    return _only(merged, _of(merged.positions, newest))


def _only(gone: GoneTopics, positions: Offsets) -> GoneTopics:
    """Return the same without all partitions but some."""
    topics = {partition.topic for partition in positions}
    return GoneTopics(
        positions,
        {topic: topic_id for topic, topic_id in gone.topic_ids.items() if topic in topics},
        _of(gone.leader_epochs, positions),
        {topic: at for topic, at in gone.since.items() if topic in topics},
    )


def _of(offsets: Offsets, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    return {p: offset for p, offset in offsets.items() if p in partitions}
