"""The bounds of logs at one moment, for a plan that asks for them several times."""

from __future__ import annotations

from collections.abc import Collection

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin, LogBounds


class LogSnapshot:
    """Look up where logs begin and end together, at the first question; implements `OffsetLookup`.

    Each look-up of its own would be another round trip to the brokers.

    Args:
        admin: The cluster.
        partitions: The partitions that are asked for.
    """

    def __init__(self, admin: KafkaAdmin, partitions: Collection[TopicPartition]) -> None:
        self._admin = admin
        self._partitions = partitions
        self._bounds: LogBounds | None = None

    @property
    def bounds(self) -> LogBounds:
        """The bounds of the logs of all partitions, as they were at the first question."""
        if self._bounds is None:
            self._bounds = self._admin.bounds(self._partitions)
        return self._bounds

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the earliest offset of each partition."""
        return _chosen(self.bounds.begin, partitions)

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offset after the last visible record of each partition."""
        return _chosen(self.bounds.end, partitions)

    def high_watermarks(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Look up the offset after the last record of each partition: see `KafkaAdmin.high_watermarks`."""
        return self._admin.high_watermarks(partitions)

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Look up offsets by timestamp: see `KafkaAdmin.at_timestamp`."""
        return self._admin.at_timestamp(partitions, millis)

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Look up the offsets of the consumer group: see `KafkaAdmin.committed`."""
        return self._admin.committed(partitions)


def _chosen(offsets: Offsets, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    return {partition: offsets[partition] for partition in partitions}
