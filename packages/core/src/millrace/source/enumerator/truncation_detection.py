"""Notice logs that were truncated and have grown again, by the epochs of their leaders (KIP-320).

A leader removes nothing from the end of its log, and each new leader has a higher epoch. While the epoch is the one
that a position was found in, all records before the position are there. Under another one, the new leader is asked
where its log has the end of the old epoch: before the position, if the log was truncated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from millrace.checkpoint import Offsets, StreamOffset
from millrace.contracts import TopicPartition


class EpochPosition(NamedTuple):
    """A position in a log, and the epoch of a leader whose log held all records before it."""

    offset: int
    leader_epoch: int


class TruncationLookup(Protocol):
    """The logs of a cluster."""

    def truncations(self, positions: Mapping[TopicPartition, EpochPosition]) -> dict[TopicPartition, int]:
        """Return where logs were truncated before a position; partitions whose logs were not are left out."""


class TruncationDetector:
    """Compares the epochs of leaders with those of a stream's positions.

    Args:
        lookup: Asks leaders; only after they have changed.
    """

    def __init__(self, lookup: TruncationLookup) -> None:
        self._lookup = lookup
        # Spark writes no checkpoint while a query is idle: what was compared since then
        self._verified: dict[TopicPartition, EpochPosition] = {}

    def find(
        self, stream: StreamOffset, partitions: Collection[TopicPartition], leader_epochs: Offsets
    ) -> dict[TopicPartition, int]:
        """Return where the logs were truncated of which a stream has read more, by partition.

        Args:
            stream: How far the stream has read.
            partitions: What to look at; their logs reach to where the stream is.
            leader_epochs: The epochs of the leaders now.

        Raises:
            ClientError: The brokers refused, or did not answer for a minute.
        """
        current = {
            partition: EpochPosition(stream.positions[partition], leader_epochs[partition])
            for partition in partitions
            if partition in leader_epochs
        }
        before = {partition: self._last_verified(stream, partition) for partition in current}
        doubtful = {
            partition: position
            for partition, position in before.items()
            if position is not None and position.leader_epoch != current[partition].leader_epoch
        }
        truncated = self._lookup.truncations(doubtful) if doubtful else {}
        self._verified.update({p: position for p, position in current.items() if p not in truncated})
        return truncated

    def _last_verified(self, stream: StreamOffset, partition: TopicPartition) -> EpochPosition | None:
        offset, verified = stream.positions[partition], self._verified.get(partition)
        if verified is not None and verified.offset == offset:
            return verified
        epoch = stream.leader_epochs.get(partition)
        return None if epoch is None else EpochPosition(offset, epoch)
