"""Aligned reading: each micro-batch ends all partitions at about the same record timestamp.

A partition with little data would otherwise be read far ahead of the others. A watermark follows the newest timestamp
that was read, so that the rows of the partitions behind would be dropped as late.
"""

from __future__ import annotations

from collections.abc import Callable

from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.options.connector import SourceOptions
from millrace.options.secrets import Properties
from millrace.source.enumerator.record_probe import next_timestamps, offset_of_timestamp
from millrace.source.enumerator.stream_offset import Offsets


class Alignment:
    """Finds, for each partition, the offset where the timestamps of a micro-batch end.

    The timestamps of a batch go from the oldest that is next in any partition to that one plus the drift.

    Args:
        client: Properties for the Kafka client.
        cluster: Where the topics are.
        max_drift_ms: How much time a batch spans, by the records' timestamps.
        idle_timeout_ms: How long a partition that has nothing new still holds the others back.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        client: Properties,
        cluster: KafkaAdmin,
        max_drift_ms: int,
        idle_timeout_ms: int,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._cluster = cluster
        self._max_drift_ms = max_drift_ms
        self._idle_timeout_s = idle_timeout_ms / 1000
        self._clock = clock
        # What the last look for a timestamp has found: partition to (offset, timestamp) of the record there
        self._known: dict[TopicPartition, tuple[int, int]] = {}
        # Up to which timestamp a partition was read, and since when it has nothing new
        self._read_to: dict[TopicPartition, int] = {}
        self._quiet_since: dict[TopicPartition, float] = {}

    @classmethod
    def of(
        cls, options: SourceOptions, client: Properties, cluster: KafkaAdmin, clock: Callable[[], float]
    ) -> Alignment | None:
        """The alignment that the options ask for, if any."""
        if options.max_drift_ms is None:
            return None
        return cls(client, cluster, options.max_drift_ms, options.idle_timeout_ms, clock)

    def end(self, begin: Offsets, available: Offsets, max_rows: int | None, *, draining: bool) -> Offsets:
        """Where each partition ends in the next micro-batch.

        Args:
            begin: Where it begins.
            available: How far it could go; the same partitions.
            max_rows: How many offsets the batch may have; it spans less time when it would have more. Only records of
                one and the same timestamp can still be too many.
            draining: Whether partitions that have nothing new hold nobody back, since nothing more is waited for.
        """
        waiting = {partition: begin[partition] for partition in begin if available[partition] > begin[partition]}
        next_ = self._next_timestamps(waiting, available)
        if not next_:
            return available
        oldest = min(next_.values())
        held_at = oldest if draining else min([oldest, *self._held_at(oldest, begin, waiting)])
        # Offsets without a visible record are passed at once
        gaps = {partition: available[partition] for partition in available if partition not in next_}

        def until(bound: int) -> Offsets:
            return self._ends(next_, bound, begin, available)

        bound = held_at + self._max_drift_ms
        ends = until(bound)
        if max_rows is not None and _rows(begin, ends) > max_rows:
            bound, ends = _largest_fitting(until, oldest, bound, begin, max_rows)
        for partition in next_:
            self._read_to[partition] = bound
        return {**begin, **gaps, **ends}

    def _next_timestamps(self, waiting: Offsets, available: Offsets) -> dict[TopicPartition, int]:
        """The timestamp of the next record of each partition; those without a visible one are left out."""
        known = {p: self._known[p][1] for p in waiting if p in self._known and self._known[p][0] == waiting[p]}
        unknown = {partition: offset for partition, offset in waiting.items() if partition not in known}
        found = next_timestamps(self._client, unknown, available)
        self._known.update({partition: (unknown[partition], timestamp) for partition, timestamp in found.items()})
        return {**known, **found}

    def _held_at(self, oldest: int, begin: Offsets, waiting: Offsets) -> list[int]:
        """The timestamps at which partitions without anything new hold the others, until they count as idle."""
        now = self._clock()
        for partition in waiting:
            self._quiet_since.pop(partition, None)
        quiet = [partition for partition in begin if partition not in waiting]
        return [
            self._read_to.setdefault(partition, oldest)
            for partition in quiet
            if now - self._quiet_since.setdefault(partition, now) < self._idle_timeout_s
        ]

    def _ends(
        self, next_: dict[TopicPartition, int], bound: int, begin: Offsets, available: Offsets
    ) -> dict[TopicPartition, int]:
        behind = [partition for partition, timestamp in next_.items() if timestamp < bound]
        ends = {}
        for partition, (offset, timestamp) in self._cluster.first_at(behind, bound).items():
            if offset < 0:
                ends[partition] = available[partition]
            elif offset > begin[partition]:
                ends[partition] = min(offset, available[partition])
                self._known[partition] = offset, timestamp
            else:
                # A record with a later timestamp was written, and read, before older ones
                ends[partition] = offset_of_timestamp(
                    self._client, partition, bound, begin[partition], available[partition]
                )
        return ends


def _rows(begin: Offsets, ends: Offsets) -> int:
    return sum(end - begin[partition] for partition, end in ends.items())


def _largest_fitting(
    until: Callable[[int], Offsets], oldest: int, too_late: int, begin: Offsets, max_rows: int
) -> tuple[int, Offsets]:
    """A bound, and where the batch ends with it, that gives at most ``max_rows`` offsets and at least half of them."""
    fitting: tuple[int, Offsets] | None = None
    low, high = oldest, too_late
    while high - low > 1:
        bound = (low + high) // 2
        end = until(bound)
        rows = _rows(begin, end)
        if rows > max_rows:
            high = bound
            continue
        low, fitting = bound, (bound, end)
        if rows > max_rows // 2:
            break
    return fitting or (oldest + 1, until(oldest + 1))
