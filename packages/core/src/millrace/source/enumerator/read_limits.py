"""Read limits: how far a micro-batch may go when it may not take all there is."""

from __future__ import annotations

from millrace.contracts import TopicPartition
from millrace.source.enumerator.stream_offset import Offsets


def limit_rows(start: Offsets, end: Offsets, max_rows: int) -> dict[TopicPartition, int]:
    """End offsets not beyond ``end`` that together take at most ``max_rows`` offsets.

    The limit is shared out in proportion to what each partition has left, so that all finish at about the same time.
    A partition with something left gets at least one, as far as ``max_rows`` goes: none starves beside a big one.

    Args:
        start: Where each partition is.
        end: Where each partition could go; the same partitions.
        max_rows: At least 1.
    """
    backlog = {partition: end[partition] - start[partition] for partition in end}
    total = sum(backlog.values())
    if total <= max_rows:
        return dict(end)
    waiting = sorted((partition for partition in backlog if backlog[partition]), key=lambda p: (-backlog[p], p))
    share = dict.fromkeys(waiting[:max_rows], 1)
    spare = max_rows - len(share)
    rest = sum(backlog[partition] - 1 for partition in share)
    for partition in share:
        extra = spare * (backlog[partition] - 1) // rest if rest else 0
        share[partition] += extra
    _hand_out(share, backlog, max_rows - sum(share.values()))
    return {partition: start[partition] + share.get(partition, 0) for partition in end}


def _hand_out(share: dict[TopicPartition, int], backlog: Offsets, remainder: int) -> None:
    for partition in share:
        given = min(remainder, backlog[partition] - share[partition], 1)
        share[partition] += given
        remainder -= given
