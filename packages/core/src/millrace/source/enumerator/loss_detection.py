"""Detect data that a stream can no longer read, and fail or continue without it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from millrace.checkpoint import Offsets, StreamOffset
from millrace.contracts import TopicPartition
from millrace.errors import DataLossError
from millrace.source.data_loss_messages import DATA_LOSS_HINT, describe_log, logger
from millrace.source.enumerator.gone_topics import KEPT_DAYS
from millrace.source.enumerator.subscriber import SubscribedPartitions
from millrace.source.splits import OffsetRange, Split

RECEDED_PATIENCE_S = 10.0
"""Seconds for which a log must end before what was read of it until it counts as truncated: a leader may learn late how
far its log goes."""

_GONE = "is gone: its topic was deleted, has fewer partitions, or no longer matches the subscription"


@dataclass(frozen=True)
class Loss:
    """The records of one partition that a query cannot read any more.

    Attributes:
        partition: The partition.
        reason: What happened to it, in words.
        skipped: How many offsets are lost for certain.
        resume: Where reading can continue; None when the partition is gone.
        end: Where the log ends, if records before ``resume`` were deleted; None in other cases.
        is_repetition: Whether records of a micro-batch that is repeated are left out; what comes next decides how the
            partition is read on.
    """

    partition: TopicPartition
    reason: str
    skipped: int
    resume: int | None
    end: int | None = None
    is_repetition: bool = False

    @property
    def outcome(self) -> str:
        """Place where reading goes on, if the loss is no error."""
        if self.is_repetition:
            return "The micro-batch is repeated without them"
        if self.resume is None:
            return f"It is no longer read; if it is back within {KEPT_DAYS} days, it is read on from where it was left"
        return f"It is read from offset {self.resume}"

    def resumed_at_end(self) -> Loss:
        """Return the same loss, with reading to continue at the end of the log."""
        if self.resume is None or self.end is None:
            return self
        return replace(self, skipped=self.skipped + self.end - self.resume, resume=self.end)


def find_losses(position: StreamOffset, subscribed: SubscribedPartitions, begin: Offsets, end: Offsets) -> list[Loss]:
    """Find what a stream has lost since it was at an offset.

    Args:
        position: How far the stream has read.
        subscribed: The partitions that there are to read now.
        begin: Where the log of each partition begins now.
        end: Where the log of each partition ends now.
    """
    existing = set(subscribed.partitions)
    gone = _reason_why_gone(position, subscribed)
    losses = (
        _find_loss(partition, offset, position, subscribed, begin, end)
        if partition in existing
        else Loss(partition, gone, 0, None)
        for partition, offset in sorted(position.positions.items())
        if not position.has_stopped(partition)
    )
    return [loss for loss in losses if loss is not None]


def _reason_why_gone(position: StreamOffset, subscribed: SubscribedPartitions) -> str:
    topics = sorted({partition.topic for partition in subscribed.partitions})
    if topics and {partition.topic for partition in position.positions}.isdisjoint(topics):
        read = f"topic {topics[0]!r}" if len(topics) == 1 else f"{len(topics)} others, such as {topics[0]!r}"
        return (
            f"is in the checkpoint, and the query reads {read}: 'checkpointLocation' is another query's, or the topics "
            f"of this query have been changed"
        )
    return _GONE


def _find_loss(
    partition: TopicPartition,
    offset: int,
    position: StreamOffset,
    subscribed: SubscribedPartitions,
    begin: Offsets,
    end: Offsets,
) -> Loss | None:
    low, high = begin[partition], end[partition]
    log = f"and the log now {describe_log(low, high)}"
    if subscribed.has_another(partition.topic, position.topic_ids):
        reason = f"had been read up to {offset} when its topic was deleted and created again, {log}"
        return Loss(partition, reason, 0, low)
    if high < offset:
        # With an unchanged id it is the same log, of which everything that remains was read
        resume = high if partition.topic in position.topic_ids.keys() & subscribed.topic_ids.keys() else low
        return Loss(partition, f"had been read up to {offset}, {log}: it was created again or truncated", 0, resume)
    if low > offset:
        skipped = min(low, position.stopping_offsets.get(partition, low)) - offset
        return Loss(partition, f"wants offset {offset}, {log}: records were deleted", skipped, low, high)
    return None


def has_receded(position: StreamOffset, subscribed: SubscribedPartitions, end: Offsets) -> bool:
    """Return whether a log ends before what was read of it, though its topic was not created again."""
    return any(
        end[p] < position.positions.get(p, 0)
        and not position.has_stopped(p)
        and not subscribed.has_another(p.topic, position.topic_ids)
        for p in subscribed.partitions
    )


def unrepeatable(splits: Iterable[Split], made_again: Collection[str]) -> list[Loss]:
    """Return what is lost of a micro-batch that is repeated after some topics were created again.

    Args:
        splits: The splits of the micro-batch.
        made_again: The topics.
    """
    ranges = (range_ for split in splits for range_ in split.ranges if range_.partition.topic in made_again)
    by_partition = groupby(sorted(ranges, key=attrgetter("partition", "start")), attrgetter("partition"))
    return [_unrepeatable(partition, list(pieces)) for partition, pieces in by_partition]


def _unrepeatable(partition: TopicPartition, pieces: list[OffsetRange]) -> Loss:
    reason = (
        f"was to be read again from offset {pieces[0].start} to {pieces[-1].end - 1}, in a micro-batch that had not "
        f"ended when its topic was deleted and created again"
    )
    return Loss(partition, reason, sum(map(len, pieces)), None, is_repetition=True)


def truncation_losses(
    position: StreamOffset, truncated: Mapping[TopicPartition, int], begin: Offsets, end: Offsets
) -> list[Loss]:
    """Return what a stream has lost in logs that were truncated and have grown again.

    Args:
        position: How far the stream has read.
        truncated: Where the logs were truncated, before the position.
        begin: Where the log of each partition begins now.
        end: Where the log of each partition ends now.
    """
    return [
        Loss(
            partition,
            f"had been read up to {position.positions[partition]} when its log was truncated from offset {at} on, and "
            f"the log now {describe_log(begin[partition], end[partition])}: other records are where some were that had "
            f"been read",
            0,
            at,
        )
        for partition, at in sorted(truncated.items())
    ]


class LossPolicy:
    """Raise an error for lost data, or log a warning and count it.

    Args:
        fail: Whether it is an error.
        skip_to_end: Whether a partition whose records were deleted goes on at the end of its log, not at its beginning.

    Attributes:
        skipped: How many offsets were skipped.
    """

    def __init__(self, *, fail: bool, skip_to_end: bool = False) -> None:
        self._fail = fail
        self._skip_to_end = skip_to_end
        self.skipped = 0

    def handle(self, losses: Collection[Loss]) -> dict[TopicPartition, int]:
        """Return where partitions that have lost data continue.

        Raises:
            DataLossError: Something is lost, and that is an error; the message names all of it.
        """
        if losses and self._fail:
            lost = "; ".join(f"{loss.partition} {loss.reason}" for loss in losses)
            raise DataLossError(f"data is lost: {lost}. {DATA_LOSS_HINT}")
        if self._skip_to_end:
            losses = [loss.resumed_at_end() for loss in losses]
        for loss in losses:
            logger.warning("data is lost: %s %s. %s", loss.partition, loss.reason, loss.outcome)
            self.skipped += loss.skipped
        return {loss.partition: loss.resume for loss in losses if loss.resume is not None}
