"""Look up offsets by timestamps."""

from __future__ import annotations

from collections.abc import Collection

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin

_MAX_MILLIS = 2**63 - 1


class BrokerTimes:
    """The timestamps of logs, as brokers tell them; implements `LogTimes`.

    Args:
        admin: The cluster.
        max_disorder_ms: How far timestamps go back at most, as the user says; None where it is not known. That brokers
            set the timestamps of a topic now does not tell who set those of its records.
    """

    def __init__(self, admin: KafkaAdmin, max_disorder_ms: int | None) -> None:
        self._admin = admin
        self._max_disorder_ms = max_disorder_ms

    def first_at(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Return the offset of each partition's first record at or after a timestamp; without those that have none."""
        # No record is as late as a filter on a BIGINT can be, and the client takes no such time
        if not partitions or millis > _MAX_MILLIS:
            return {}
        looked_up = self._admin.offsets_for_timestamp(partitions, millis)
        return {partition: offset for partition, (offset, _) in looked_up.items() if offset >= 0}

    def end_before(self, stop: Offsets, millis: int) -> dict[TopicPartition, int]:
        """Return offsets from which on no record before ``stop`` is earlier than a timestamp, where that is known."""
        if self._max_disorder_ms is None:
            return {}
        return self.first_at(tuple(stop), max(0, millis + self._max_disorder_ms))
