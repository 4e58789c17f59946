"""Count what a task reads, by partition."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.monitoring.split_report import PartitionCounts
from millrace.records.trace_context import sampled_traceparents


class SplitMetrics:
    """Counts by partition; a batch of records costs one call.

    Args:
        max_links: The number of messages whose traces are noted, at most.

    Attributes:
        traceparents: The traces of messages.
    """

    def __init__(self, max_links: int = 0) -> None:
        self._max_links = max_links
        self.traceparents: list[str] = []
        self.counts: dict[TopicPartition, PartitionCounts] = defaultdict(PartitionCounts)

    @contextmanager
    def other_micro_batch(self) -> Iterator[None]:
        """Count nothing of what is read meanwhile, except for offsets that are gone."""
        counts, self.counts = self.counts, defaultdict(PartitionCounts)
        try:
            yield
        finally:
            other, self.counts = self.counts, counts
        for partition, count in other.items():
            counts[partition].skipped += count.skipped

    def fetched(self, partition: TopicPartition, records: list[Message], value_bytes: int) -> None:
        """Count records that were fetched."""
        count = self.counts[partition]
        count.records += len(records)
        count.bytes += value_bytes
        count.fetch_lag_ms = _age_ms(records[-1])

    def emitted(self, partition: TopicPartition, records: list[Message]) -> None:
        """Note that rows were built of fetched records."""
        self.counts[partition].emit_lag_ms = _age_ms(records[-1])
        if len(self.traceparents) < self._max_links:
            self.traceparents += islice(sampled_traceparents(records), self._max_links - len(self.traceparents))

    def malformed(self, partition: TopicPartition, messages: int) -> None:
        """Count messages that are malformed."""
        self.counts[partition].errors += messages

    @property
    def errors(self) -> int:
        """The number of malformed messages in all partitions."""
        return sum(count.errors for count in self.counts.values())

    @property
    def records(self) -> int:
        """The number of messages that were read in all partitions."""
        return sum(count.records for count in self.counts.values())

    def restored(self, partition: TopicPartition) -> None:
        """Count a restore of the state of a partition."""
        self.counts[partition].restores += 1

    def state_size(self, partition: TopicPartition, keys: int, size_bytes: int) -> None:
        """Note the size of the state of a partition."""
        count = self.counts[partition]
        count.state_keys, count.state_bytes = keys, size_bytes

    def skipped(self, partition: TopicPartition, offsets: int) -> None:
        """Count offsets that are gone."""
        self.counts[partition].skipped += offsets


def _age_ms(record: Message) -> int | None:
    timestamp = record.timestamp()[1]
    return int(time.time() * 1000) - timestamp if timestamp >= 0 else None
