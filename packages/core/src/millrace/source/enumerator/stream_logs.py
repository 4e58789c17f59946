"""Add to the ranges of a micro-batch what its plan knows of their logs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from millrace.checkpoint import Offsets, StreamOffset
from millrace.contracts import TopicPartition
from millrace.source.splits import OffsetRange, Split, StreamLog


def with_logs(
    splits: Sequence[Split], end: StreamOffset, available: Offsets, value_bytes: Mapping[TopicPartition, float]
) -> list[Split]:
    """Return splits whose ranges have their logs, as far as brokers tell their ids and epochs.

    Args:
        splits: The splits of a micro-batch.
        end: The offset where it ends.
        available: How far the logs went at the last look, where there was one.
        value_bytes: The mean size of values, where it is known.
    """

    def with_log(range_: OffsetRange) -> OffsetRange:
        partition = range_.partition
        topic_id, epoch = end.topic_ids.get(partition.topic), end.leader_epochs.get(partition)
        if not end.owner or topic_id is None or epoch is None:
            return range_
        is_last, goes_on = range_.end == end.positions[partition], range_.end < available.get(partition, range_.end)
        log = StreamLog(end.owner, topic_id, epoch, is_last=is_last, goes_on=goes_on)
        if partition in value_bytes:
            log = dataclasses.replace(log, value_bytes=value_bytes[partition])
        return dataclasses.replace(range_, log=log)

    return [dataclasses.replace(split, ranges=tuple(map(with_log, split.ranges))) for split in splits]
