"""Planning on the driver: subscription, starting and stopping offsets, and how far each micro-batch goes."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from millrace.configuration import SourceConfig
from millrace.contracts import TopicPartition
from millrace.errors import DataLossError, OptionsError
from millrace.kafka.cluster import Cluster
from millrace.plugins.kinds import OFFSET_INITIALIZER
from millrace.plugins.manager import PluginRef, plugin_manager
from millrace.source.commit import GroupCommits
from millrace.source.limits import limit_rows
from millrace.source.offsets import Offsets, StreamOffset, held
from millrace.source.sample import mean_record_bytes
from millrace.source.selection import selection_of
from millrace.source.splits import Split, plan_splits
from millrace.source.subscription import Subscription

EARLIEST = "earliest-offset"
LATEST = "latest-offset"

ASSUMED_RECORD_BYTES = 1_000.0
"""The size of a record as long as none was seen."""


class Planner:
    """Answers, on the driver, which offsets to read.

    Args:
        config: How to read.

    Raises:
        OptionsError: No topic is given, or the Kafka client does not accept its properties.
    """

    def __init__(self, config: SourceConfig) -> None:
        selection = selection_of(config.options)
        self._config = config
        self._cluster = Cluster(config.client)
        self._commits = GroupCommits(self._cluster)
        self._record_bytes = ASSUMED_RECORD_BYTES
        self._subscription = Subscription(self._cluster, selection, config.options.discovery_interval_ms)

    def batch_splits(self) -> list[Split]:
        """The splits of a batch read, from the starting to the stopping offsets."""
        partitions = self._subscription.partitions()
        start = self._starting(EARLIEST, partitions)
        stop = self._initialize(self._config.bounded or _standard(LATEST), partitions)
        end = self._cluster.end(partitions)
        return plan_splits(start, {partition: _until(stop, partition, start, end) for partition in partitions})

    def first_offset(self) -> StreamOffset:
        """Where a stream without a checkpoint begins, and where it stops if it is bounded."""
        partitions = self._subscription.partitions()
        start = self._starting(LATEST, partitions)
        if self._config.bounded is None:
            return StreamOffset(start)
        return StreamOffset(start, stop={**start, **self._initialize(self._config.bounded, partitions)})

    def commit(self, offset: StreamOffset) -> None:
        """Let the consumer group follow the stream, when the user wants it to."""
        wanted = self._config.options.commit_offsets
        if wanted or (wanted is None and self._config.follows_group):
            self._commits.commit(offset.next)

    def end(self) -> dict[TopicPartition, int]:
        """The end of all partitions now."""
        return self._cluster.end(self._subscription.partitions())

    def available(self, start: StreamOffset, last: Offsets | None = None) -> StreamOffset:
        """How far a stream at ``start`` could read now, new partitions included.

        Args:
            start: How far it has read.
            last: Where each partition is to stop in this run; partitions that are not in it are not read at all.

        Raises:
            DataLossError: A partition is gone, or ends before ``start``: its topic was deleted or made again.
        """
        partitions = self._subscription.partitions()
        self._check_all_there(start.next, partitions)
        if last is not None:
            partitions = tuple(partition for partition in partitions if partition in last or partition in start.next)
        joined = self._joined(start, partitions)
        end = self._cluster.end(partitions)
        begin = {**start.next, **joined}
        for partition in partitions:
            self._check_not_behind(partition, begin[partition], end[partition])
        for stop in (start.stop, last):
            if stop:
                end = {partition: _until(stop, partition, begin, end) for partition in partitions}
        return StreamOffset(end, joined, start.stop)

    def limited(
        self, start: StreamOffset, available: StreamOffset, max_rows: int | None, max_bytes: int | None
    ) -> StreamOffset:
        """How far the next micro-batch goes when at most ``max_rows`` records and about ``max_bytes`` may be read."""
        begin = {**start.next, **available.joined}
        if max_bytes is not None and available.next != begin:
            sampled = mean_record_bytes(self._config.client, begin, available.next)
            self._record_bytes = sampled or self._record_bytes
            fitting = max(1, int(max_bytes / self._record_bytes))
            max_rows = fitting if max_rows is None else min(max_rows, fitting)
        if max_rows is None:
            return available
        return StreamOffset(limit_rows(begin, available.next, max_rows), available.joined, available.stop)

    def _starting(self, otherwise: str, partitions: tuple[TopicPartition, ...]) -> dict[TopicPartition, int]:
        ref = self._config.startup or _standard("group-offsets" if self._config.follows_group else otherwise)
        offsets = self._initialize(ref, partitions)
        begin, end = self._cluster.begin(partitions), self._cluster.end(partitions)
        valid = {p: offset for p, offset in offsets.items() if begin[p] <= offset <= end[p]}
        missing = [partition for partition in partitions if partition not in valid]
        reset = self._config.options.offset_reset
        if missing and reset == "none":
            raise DataLossError(_no_start(ref.name, missing[0], len(missing), offsets.get(missing[0]), begin, end))
        bounds = begin if reset == "earliest" else end
        return {**valid, **{partition: bounds[partition] for partition in missing}}

    def _initialize(self, ref: PluginRef, partitions: tuple[TopicPartition, ...]) -> dict[TopicPartition, int]:
        offsets: Mapping[TopicPartition, int] = ref.create().offsets(partitions, self._cluster)
        wrong = [f"{offset} for {partition}" for partition, offset in offsets.items() if offset < 0]
        if wrong:
            raise OptionsError("source", (f"offset initializer {ref.name!r} gave offset {', '.join(wrong)}",))
        return {partition: offsets[partition] for partition in partitions if partition in offsets}

    def _joined(self, start: StreamOffset, partitions: tuple[TopicPartition, ...]) -> dict[TopicPartition, int]:
        return self._cluster.begin([partition for partition in partitions if partition not in start.next])

    def _check_all_there(self, read: Offsets, partitions: tuple[TopicPartition, ...]) -> None:
        gone = sorted(set(read) - set(partitions))
        if gone:
            raise DataLossError(
                f"partitions that the checkpoint has read are gone: {', '.join(map(str, gone))}. Their topics were "
                f"made again with fewer partitions, or option 'topic' was changed; start with a new checkpoint location"
            )

    def _check_not_behind(self, partition: TopicPartition, start: int, end: int) -> None:
        if end < start:
            raise DataLossError(
                f"{partition} ends at offset {end}, but the query has read up to {start}: the topic was made again or "
                f"its log cut off. Start with a new checkpoint location to read it from its beginning"
            )


def plan_micro_batch(start: StreamOffset, end: StreamOffset) -> list[Split]:
    """The splits of the micro-batch between two offsets; needs no look at the cluster."""
    return plan_splits({**end.joined, **start.next}, end.next)


def _no_start(
    mode: str, partition: TopicPartition, count: int, offset: int | None, begin: Offsets, end: Offsets
) -> str:
    found = "has no offset" if offset is None else f"gives offset {offset}"
    more = f" (and {count - 1} more partitions)" if count > 1 else ""
    return (
        f"{partition}{more}: startup mode {mode!r} {found}, and the log {held(begin[partition], end[partition])}. "
        f"Say with option 'properties.auto.offset.reset' where to start instead: earliest or latest"
    )


def _until(stop: Offsets, partition: TopicPartition, begin: Offsets, end: Offsets) -> int:
    return max(begin[partition], min(end[partition], stop.get(partition, begin[partition])))


@functools.cache
def _standard(name: str) -> PluginRef:
    manager = plugin_manager()
    options = manager.load(OFFSET_INITIALIZER, name).Options()  # type: ignore[attr-defined]
    return manager.refer(OFFSET_INITIALIZER, name, options)
