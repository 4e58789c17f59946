"""Plan reads on the driver: subscription, starting and stopping offsets, and how far each micro-batch goes."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from millrace.checkpoint import UNKNOWN_TOPIC_ID, Offsets, StreamOffset
from millrace.configuration import SourceConfig
from millrace.contracts import StandardOffsets, TopicPartition
from millrace.errors import UnknownTopicError
from millrace.kafka.admin import KafkaAdmin, LogBounds
from millrace.kafka.retry import Clock, poll
from millrace.monitoring.progress import GroupProgress, PlanProgress
from millrace.options.connector import SourceOptions
from millrace.source.enumerator.admission_control import AdmissionControl
from millrace.source.enumerator.alignment import Alignment
from millrace.source.enumerator.conditions import Condition, narrow
from millrace.source.enumerator.consumer_group import ConsumerGroup, check_group_is_free
from millrace.source.enumerator.gone_topics import still_gone, tell_returned, with_returned
from millrace.source.enumerator.key_partitions import WriterPartitions
from millrace.source.enumerator.log_snapshot import LogSnapshot
from millrace.source.enumerator.log_times import BrokerTimes
from millrace.source.enumerator.loss_detection import (
    RECEDED_PATIENCE_S,
    Loss,
    LossPolicy,
    find_losses,
    has_receded,
    truncation_losses,
    unrepeatable,
)
from millrace.source.enumerator.record_probe import RecordProbe
from millrace.source.enumerator.split_planner import MAX_SPLIT_RECORDS, plan_splits
from millrace.source.enumerator.start_and_stop_offsets import (
    limit_to_stop,
    starting_offsets,
    stopping_offsets,
    wait_for_stopping_offsets,
)
from millrace.source.enumerator.subscriber import PartitionDiscovery, SubscribedPartitions, subscriber_for
from millrace.source.enumerator.truncation_detection import TruncationDetector
from millrace.source.splits import Split, without_topics

LAG_INTERVAL_S = 5.0
"""Seconds between looks at high watermarks, which tell how much there is behind transactions that are open."""


class _SubscribedLogs(NamedTuple):
    """The partitions that match a subscription, and the bounds of their logs.

    Attributes:
        start: How far the stream has read, also in partitions that are back.
        subscribed: The partitions.
        bounds: The bounds of their logs.
    """

    start: StreamOffset
    subscribed: SubscribedPartitions
    bounds: LogBounds


class Planner:
    """Decides, on the driver, which offsets to read.

    Args:
        config: How to read.
        admin: The cluster to read from.
        record_probe: Reads a few records, for limits that need more than offsets.
        clock: Monotonic clock, in seconds.
        pause: Waits for some seconds.
        new_id: Makes a name for a stream that begins, another one each time.
        wall_clock: Seconds since 1970.

    Raises:
        OptionsError: No topic is given.
    """

    def __init__(
        self,
        config: SourceConfig,
        admin: KafkaAdmin,
        record_probe: RecordProbe,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        options = config.options
        self._config = config
        self._admin = admin
        self._clock, self._pause, self._wall_clock = clock, pause, wall_clock
        self._owner = new_id()
        self._group: ConsumerGroup | None = None
        self._truncation_detector = TruncationDetector(record_probe)
        self._high_watermarks: Offsets = {}
        self._next_high_watermarks_at = clock()
        # Those of partitions whose last records are behind open transactions
        self._behind_transactions: Offsets = {}
        # Where partitions begin that the first offset from which a restart may read does not have
        self._discovered: dict[TopicPartition, int] = {}
        self._loss_policy = LossPolicy(fail=options.fail_on_data_loss, skip_to_end=options.offset_reset == "latest")
        self._discovery = PartitionDiscovery(
            admin,
            subscriber_for(options),
            options.discovery_interval_ms,
            allow_missing=not options.fail_on_data_loss,
            clock=clock,
            pause=pause,
        )
        alignment = Alignment.of(options, admin, record_probe, clock)
        self._admission_control = AdmissionControl(options, record_probe, alignment, clock)

    @classmethod
    def connect(cls, config: SourceConfig, admin: KafkaAdmin | None = None) -> Planner:
        """Make a planner with clients of its own, which connect when they are first asked.

        Args:
            config: How to read.
            admin: The cluster to read from; None for a client of its own.

        Raises:
            OptionsError: No topic is given, or the Kafka client does not accept its properties.
        """
        return cls(config, admin or KafkaAdmin(config.client), RecordProbe(config.client))

    def batch_range(self) -> tuple[Offsets, Offsets]:
        """Return where a batch read starts and stops in each partition, which may be beyond the ends of the logs."""
        partitions = self._discovery.partitions().partitions
        logs = LogSnapshot(self._admin, partitions)
        start = starting_offsets(self._config, StandardOffsets.EARLIEST, partitions, logs)
        if self._config.options.check_duplicated_group:
            check_group_is_free(self._admin, start, owner="")
        return start, stopping_offsets(self._config, start, logs)

    def batch_splits(self, conditions: Sequence[Condition] = ()) -> list[Split]:
        """Return the splits of a batch read, when the logs reach to where it stops.

        Args:
            conditions: What all records that are needed fulfil; others may be left out.
        """
        start, stop = self.batch_range()
        if self._config.bounded is not None:
            wait_for_stopping_offsets(stop, self._admin, clock=self._clock, pause=self._pause)
        return plan_batch(*self.narrowed(start, stop, conditions), self._config.options)

    def narrowed(
        self, start: Offsets, stop: Offsets, conditions: Sequence[Condition]
    ) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int]]:
        """Return where a batch starts and stops if only records that fulfil conditions are needed.

        Args:
            start: Where each partition starts without conditions.
            stop: Where each partition stops without conditions, not beyond the end of its log.
            conditions: The conditions.
        """
        if not conditions:
            return start, stop
        times = BrokerTimes(self._admin, self._config.options.max_disorder_ms)
        keys = WriterPartitions(self._config.key_partitioner, self._partition_count)
        return narrow(start, stop, conditions, times, keys)

    def _partition_count(self, topic: str) -> int:
        return self._admin.topics([topic])[topic].partitions

    def first_offset(self) -> StreamOffset:
        """Return where a stream without a checkpoint begins, and where it stops if it is bounded."""
        subscribed = self._discovery.partitions()
        logs = LogSnapshot(self._admin, subscribed.partitions)
        start = starting_offsets(self._config, StandardOffsets.LATEST, subscribed.partitions, logs)
        is_bounded = self._config.bounded is not None
        stop = stopping_offsets(self._config, start, logs) if is_bounded else {}
        return StreamOffset(start, stopping_offsets=stop, topic_ids=subscribed.topic_ids, owner=self._owner)

    def available(self, start: StreamOffset, run_end: Offsets | None = None) -> StreamOffset:
        """Return how far a stream could read now, new partitions included; ``start`` itself if there is nothing.

        Args:
            start: How far it has read.
            run_end: Where each partition is to stop in this run; partitions that are not in it are not read at all.

        Raises:
            DataLossError: Something that the stream was to read is lost, and that is an error.
        """
        read = start.positions
        logs = self._look_up(start, self._discovery.partitions(read))
        if self._find_losses(logs) or self._has_been_made_again(logs):
            # The topics may have changed since they were last looked up; a new leader learns the end of its log late
            logs = poll(
                lambda: self._look_up(start, self._discovery.refresh(read)),
                until=lambda seen: not has_receded(seen.start, seen.subscribed, seen.bounds.end),
                timeout_s=RECEDED_PATIENCE_S,
                clock=Clock(self._clock, self._pause),
            )
        resumed = self._loss_policy.handle(self._find_losses(logs))
        return self._available(start, logs, resumed, run_end)

    def _available(
        self, before: StreamOffset, logs: _SubscribedLogs, resumed: Offsets, run_end: Offsets | None
    ) -> StreamOffset:
        start, subscribed, bounds = logs
        known = start.positions if run_end is None else {**start.positions, **run_end}
        partitions = [p for p in subscribed.partitions if run_end is None or p in known]
        returned = {p: at for p, at in start.positions.items() if p not in before.positions}
        new = {p: bounds.begin[p] for p in partitions if p not in start.positions}
        self._discovered |= {**new, **returned}
        overrides = {**new, **returned, **resumed}
        begin = {**start.positions, **overrides}
        end = {partition: bounds.end[partition] for partition in partitions}
        tell_returned({p: at for p, at in returned.items() if p not in resumed})
        high = {p: at for p, at in self._high_watermarks.items() if p in end}
        # What has lost data ends where its log ends now
        stop = {p: min(at, end[p]) if p in resumed else at for p, at in start.stopping_offsets.items()}
        for limit in (stop, run_end):
            if limit:
                end, high = limit_to_stop(limit, begin, end), limit_to_stop(limit, begin, high)
        self._behind_transactions = {p: at for p, at in high.items() if at > end[p]}
        if end == start.positions and not overrides:
            return before
        # While brokers are upgraded, those before 2.8 tell no ids
        known_topics = {partition.topic for partition in partitions} - {partition.topic for partition in resumed}
        known_ids = {topic: topic_id for topic, topic_id in start.topic_ids.items() if topic in known_topics}
        topic_ids = {**known_ids, **subscribed.topic_ids}
        epochs = {p: epoch for p, epoch in bounds.leader_epochs.items() if p in end}
        gone = still_gone(start, end, self._wall_clock())
        discovered = {p: at for p, at in self._discovered.items() if p in end and p not in overrides}
        owner = start.owner or self._owner
        return StreamOffset(end, overrides, stop, topic_ids, owner, epochs, gone, discovered)

    def repeated(self, end: StreamOffset, splits: Sequence[Split]) -> list[Split]:
        """Return the splits of a micro-batch that was planned by an earlier process and is repeated.

        Ranges in topics that were created again since are left out; the splits stay as many, since a sink may know
        which of them it has written.

        Args:
            end: The end of the micro-batch.
            splits: Its splits.

        Raises:
            DataLossError: There are such ranges, and that is an error.
        """
        topics = {range_.partition.topic for split in splits for range_ in split.ranges}
        remade = self._made_again(topics, end.topic_ids)
        self._loss_policy.handle(unrepeatable(splits, remade))
        return [without_topics(split, remade) for split in splits]

    def next_end(self, start: StreamOffset, available: StreamOffset, *, draining: bool) -> StreamOffset:
        """Return where the next micro-batch ends, by the read limits; ``start`` itself when there is to be none yet.

        Args:
            start: How far the stream has read.
            available: How far it could go.
            draining: Whether the query ends when it has read all of ``available``, so that nothing is waited for.
        """
        if available == start:
            self._admission_control.held_back = None
            return start
        begin = available.starting_offsets(start)
        # Start overrides must come into the checkpoint, or they would be found, and logged, again
        at_once = draining or available.is_bounded or bool(available.start_overrides)
        end = self._admission_control.end(begin, available.positions, draining=at_once)
        if end == begin and not available.start_overrides:
            return start
        return replace(available, positions=end)

    def begin(self, start: StreamOffset) -> None:
        """Prepare to go on from ``start``; called once in each process of a query.

        Raises:
            GroupInUseError: Someone else uses the consumer group, and the user wants that checked.
        """
        owner, commits_offsets = start.owner or self._owner, self._config.options.commit_offsets
        if commits_offsets or (commits_offsets is None and self._config.follows_group):
            self._group = ConsumerGroup(self._admin, owner)
        if self._config.options.check_duplicated_group:
            if self._group:
                self._group.acquire_lease(start.positions)
            else:
                check_group_is_free(self._admin, start.positions, owner)

    def commit(self, offset: StreamOffset) -> None:
        """Commit an offset to the consumer group, if the user wants that."""
        if self._group:
            self._group.commit(offset.positions)

    def on_logged(self, offset: StreamOffset) -> None:
        """Note that no restart begins before an offset, since Spark's offset log has a later one."""
        self._discovered = {p: at for p, at in self._discovered.items() if p not in offset.positions}

    def progress(self) -> PlanProgress:
        """Return the planner's metrics."""
        group = self._group
        commits = None if group is None else GroupProgress(group.committed, group.succeeded, group.failed)
        held_back = self._admission_control.held_back
        return PlanProgress(self._loss_policy.skipped, commits, self._behind_transactions, held_back or "")

    def stop(self) -> None:
        """Release what a query holds that has ended."""
        if self._group:
            self._group.release_lease()

    def _look_up(self, start: StreamOffset, subscribed: SubscribedPartitions) -> _SubscribedLogs:
        """Return the partitions, and the bounds of their logs."""
        try:
            bounds = self._bounds(subscribed)
        except UnknownTopicError:
            # Deleted since the topics were last looked up
            subscribed = self._discovery.refresh(start.positions)
            bounds = self._bounds(subscribed)
        start = with_returned(start, subscribed)
        end = self._include_read(start.positions, bounds.end)
        return _SubscribedLogs(start, subscribed, bounds._replace(end=end))

    def _bounds(self, subscribed: SubscribedPartitions) -> LogBounds:
        now = self._clock()
        is_due = now >= self._next_high_watermarks_at
        bounds = self._admin.bounds(subscribed.partitions, with_high_watermarks=is_due)
        if is_due:
            self._high_watermarks, self._next_high_watermarks_at = bounds.high_watermarks, now + LAG_INTERVAL_S
        return bounds

    def _find_losses(self, logs: _SubscribedLogs) -> list[Loss]:
        start, subscribed, bounds = logs
        losses = find_losses(start, subscribed, bounds.begin, bounds.end)
        lost = {loss.partition for loss in losses}
        read = (p for p in subscribed.partitions if p in start.positions and p not in lost)
        wanted = [partition for partition in read if not start.has_stopped(partition)]
        truncated = self._truncation_detector.find(start, wanted, bounds.leader_epochs)
        return losses + truncation_losses(start, truncated, bounds.begin, bounds.end)

    def _has_been_made_again(self, logs: _SubscribedLogs) -> bool:
        """Return whether a topic with records to read is another one than when the topics were last looked up."""
        start, subscribed, bounds = logs
        wanted = {
            p.topic
            for p, end in bounds.end.items()
            if end > start.positions.get(p, bounds.begin[p]) and not (p in start.positions and start.has_stopped(p))
        }
        return bool(self._made_again(wanted, subscribed.topic_ids))

    def _made_again(self, topics: Iterable[str], ids: Mapping[str, str]) -> set[str]:
        """Return the topics that have another id by now; an id that is not known says nothing."""
        known = [topic for topic in topics if topic in ids]
        now = self._admin.topics(known, allow_missing=known) if known else {}
        return {name for name, topic in now.items() if topic.id not in (ids[name], UNKNOWN_TOPIC_ID)}

    def _include_read(self, positions: Offsets, end: Offsets) -> dict[TopicPartition, int]:
        """Move ends to what was read, where that is still in the log, if not visible at the moment."""
        before = [partition for partition, offset in positions.items() if end.get(partition, offset) < offset]
        log_end = self._admin.high_watermarks(before)
        return {**end, **{p: positions[p] for p in before if log_end[p] >= positions[p]}}


def plan_micro_batch(start: StreamOffset, end: StreamOffset, options: SourceOptions) -> list[Split]:
    """Return the splits of the micro-batch between two offsets: a function of its arguments alone."""
    return plan_batch(end.starting_offsets(start), end.positions, options)


def plan_batch(start: Offsets, end: Offsets, options: SourceOptions) -> list[Split]:
    """Return the splits of what is read between two offsets of each partition."""
    max_records = options.max_records_per_split or MAX_SPLIT_RECORDS
    return plan_splits(start, end, options.parallelism or 1, max_records, cuts_partitions=not options.has_primary_key)
