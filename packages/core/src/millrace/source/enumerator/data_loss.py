"""Data loss: what a query wanted to read and cannot, and what becomes of it."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

from millrace.contracts import TopicPartition
from millrace.errors import DataLossError
from millrace.source.enumerator.stream_offset import Offsets, StreamOffset, held
from millrace.source.enumerator.subscriber import Found

logger = logging.getLogger("millrace.source")

ADVICE = (
    "Start with a new checkpoint location, or set option 'scan.fail-on-data-loss' to false to go on with what is there"
)


@dataclass(frozen=True)
class Loss:
    """What a query cannot read any more of one partition.

    Attributes:
        partition: The partition.
        reason: What happened to it, in words.
        skipped: How many offsets are lost for certain.
        resume: Where reading can go on; None when the partition is gone.
    """

    partition: TopicPartition
    reason: str
    skipped: int
    resume: int | None


def find_losses(read: StreamOffset, found: Found, begin: Offsets, end: Offsets) -> list[Loss]:
    """What a stream has lost since it was at an offset.

    Args:
        read: How far the stream has read.
        found: What there is to read now.
        begin: Where the log of each partition begins now.
        end: Where the log of each partition ends now.
    """
    there = set(found.partitions)
    losses = (
        _loss(partition, start, read, found, begin, end)
        if partition in there
        else Loss(partition, "is gone: its topic was deleted, has fewer partitions, or is chosen no more", 0, None)
        for partition, start in sorted(read.next.items())
        if not _has_stopped(partition, read)
    )
    return [loss for loss in losses if loss is not None]


def _has_stopped(partition: TopicPartition, read: StreamOffset) -> bool:
    return bool(read.stop) and read.next[partition] >= read.stop.get(partition, 0)


def _loss(
    partition: TopicPartition, start: int, read: StreamOffset, found: Found, begin: Offsets, end: Offsets
) -> Loss | None:
    low, high = begin[partition], end[partition]
    known = read.ids.get(partition.topic)
    log = f"and the log now {held(low, high)}"
    if known is not None and known != found.ids[partition.topic]:
        return Loss(partition, f"had been read up to {start} when its topic was deleted and made again, {log}", 0, low)
    if high < start:
        # With an unchanged id it is the same log, what is left of which was read
        resume = low if known is None else high
        return Loss(partition, f"had been read up to {start}, {log}: it was made again or cut off", 0, resume)
    if low > start:
        skipped = min(low, read.stop.get(partition, low)) - start
        return Loss(partition, f"wants offset {start}, {log}: records were deleted", skipped, low)
    return None


class LossPolicy:
    """Says what becomes of lost data: an error, or a warning and a count.

    Args:
        fail: Whether it is an error.

    Attributes:
        skipped: How many offsets were skipped.
    """

    def __init__(self, *, fail: bool) -> None:
        self._fail = fail
        self.skipped = 0

    def settle(self, losses: Collection[Loss]) -> dict[TopicPartition, int]:
        """Where partitions that have lost something go on.

        Raises:
            DataLossError: Something is lost, and that is an error; the message names all of it.
        """
        if losses and self._fail:
            lost = "; ".join(f"{loss.partition} {loss.reason}" for loss in losses)
            raise DataLossError(f"data is lost: {lost}. {ADVICE}")
        for loss in losses:
            going_on = "is forgotten" if loss.resume is None else f"goes on at offset {loss.resume}"
            logger.warning("data is lost: %s %s. It %s", loss.partition, loss.reason, going_on)
            self.skipped += loss.skipped
        return {loss.partition: loss.resume for loss in losses if loss.resume is not None}
