"""Look up offsets by timestamps, and how far timestamps may be out of order."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.errors import ClientError, UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.source.enumerator.record_probe import RecordProbe

CLOCK_DIFFERENCE_MS = 60_000
"""Milliseconds by which the clock of a partition's new leader may be behind that of the one before."""


class BrokerTimes:
    """The timestamps of logs, as brokers tell them; implements `LogTimes`.

    Args:
        admin: The cluster.
        record_probe: Reads the first record behind an end.
        max_disorder_ms: How far timestamps go back at most, as the user says; None where only topics are trusted whose
            brokers set the timestamps.
    """

    def __init__(self, admin: KafkaAdmin, record_probe: RecordProbe, max_disorder_ms: int | None) -> None:
        self._admin = admin
        self._record_probe = record_probe
        self._max_disorder_ms = max_disorder_ms

    def first_at(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Return the offset of each partition's first record at or after a timestamp; without those that have none."""
        if not partitions:
            return {}
        looked_up = self._admin.offsets_for_timestamp(partitions, millis)
        return {partition: offset for partition, (offset, _) in looked_up.items() if offset >= 0}

    def end_before(self, stop: Offsets, millis: int) -> dict[TopicPartition, int]:
        """Return offsets from which on no record before ``stop`` is earlier than a timestamp, where that is known."""
        if self._max_disorder_ms is not None:
            return self.first_at(tuple(stop), max(0, millis + self._max_disorder_ms))
        trusted = self._set_by_brokers({partition.topic for partition in stop})
        candidates = [partition for partition in stop if partition.topic in trusted]
        ends = self.first_at(candidates, max(0, millis + CLOCK_DIFFERENCE_MS))
        # The topic may have had timestamps of producers when these records were written
        behind = {partition: offset for partition, offset in ends.items() if offset < stop[partition]}
        set_by_brokers = self._record_probe.have_append_times(behind, stop)
        return {partition: offset for partition, offset in behind.items() if partition in set_by_brokers}

    def _set_by_brokers(self, topics: Iterable[str]) -> set[str]:
        try:
            configs = self._admin.topic_configs(sorted(topics))
        except UnreachableError:
            raise
        except ClientError:
            # This user may not describe them
            return set()
        return {topic for topic, config in configs.items() if config.get("message.timestamp.type") == "LogAppendTime"}
