"""Planning on the driver: subscription, starting and stopping offsets, and how far each micro-batch goes."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

from millrace.configuration import SourceConfig
from millrace.errors import UnknownTopicError
from millrace.kafka.admin import KafkaAdmin
from millrace.options.connector import SourceOptions
from millrace.source.enumerator.admission_control import AdmissionControl
from millrace.source.enumerator.consumer_group import Group, check_group
from millrace.source.enumerator.data_loss import LossPolicy, find_losses
from millrace.source.enumerator.partition_discovery import Subscription
from millrace.source.enumerator.splits import LARGEST_SPLIT, Split, plan_splits
from millrace.source.enumerator.start_and_stop_offsets import (
    EARLIEST,
    LATEST,
    starting_offsets,
    stopping_offsets,
    until,
)
from millrace.source.enumerator.stream_offset import Offsets, StreamOffset, nest
from millrace.source.enumerator.subscriber import Found, selection_of


class Planner:
    """Answers, on the driver, which offsets to read.

    Args:
        config: How to read.

    Raises:
        OptionsError: No topic is given, or the Kafka client does not accept its properties.
    """

    def __init__(self, config: SourceConfig) -> None:
        options, selection = config.options, selection_of(config.options)
        self._config = config
        self._cluster = KafkaAdmin(config.client)
        self._group: Group | None = None
        self._owner = uuid.uuid4().hex
        self._losses = LossPolicy(fail=options.fail_on_data_loss)
        self._pace = AdmissionControl(options, config.client, self._cluster)
        self._subscription = Subscription(
            self._cluster, selection, options.discovery_interval_ms, forget=not options.fail_on_data_loss
        )

    def batch_splits(self) -> list[Split]:
        """The splits of a batch read, from the starting to the stopping offsets."""
        partitions = self._subscription.find().partitions
        start = starting_offsets(self._config, EARLIEST, partitions, self._cluster)
        if self._config.options.check_duplicated_group:
            check_group(self._cluster, start, owner="")
        return _splits(start, stopping_offsets(self._config, start, self._cluster), self._config.options)

    def first_offset(self) -> StreamOffset:
        """Where a stream without a checkpoint begins, and where it stops if it is bounded."""
        found = self._subscription.find()
        start = starting_offsets(self._config, LATEST, found.partitions, self._cluster)
        is_bounded = self._config.bounded is not None
        stop = stopping_offsets(self._config, start, self._cluster) if is_bounded else {}
        return StreamOffset(start, stop=stop, ids=found.ids, owner=self._owner)

    def available(self, start: StreamOffset, last: Offsets | None = None) -> StreamOffset:
        """How far a stream at ``start`` could read now, new partitions included; ``start`` itself if there is nothing.

        Args:
            start: How far it has read.
            last: Where each partition is to stop in this run; partitions that are not in it are not read at all.

        Raises:
            DataLossError: Something that the stream was to read is lost, and that is an error.
        """
        found, begin, end = self._look(start, self._subscription.find(start.next))
        losses = find_losses(start, found, begin, end)
        if losses:
            # What the topics are may have changed since they were last looked at
            found, begin, end = self._look(start, self._subscription.find_again(start.next))
            losses = find_losses(start, found, begin, end)
        resumed = self._losses.settle(losses)
        partitions = [p for p in found.partitions if last is None or p in last or p in start.next]
        joined = {p: begin[p] for p in partitions if p not in start.next} | resumed
        begin = {**start.next, **joined}
        end = {partition: end[partition] for partition in partitions}
        # What has lost data ends where its log ends now
        bounded = {p: min(stop, end[p]) if p in resumed else stop for p, stop in start.stop.items() if p in end}
        for stop in (bounded, last):
            if stop:
                end = until(stop, begin, end)
        available = StreamOffset(end, joined, bounded, found.ids, start.owner or self._owner)
        return start if end == start.next and not joined else available

    def next_end(self, start: StreamOffset, available: StreamOffset, *, draining: bool) -> StreamOffset:
        """Where the next micro-batch ends, by the read limits; ``start`` itself when there is to be none yet.

        Args:
            start: How far the stream has read.
            available: How far it could go.
            draining: Whether the query ends when it has read all of ``available``, so that nothing is waited for.
        """
        if available == start:
            return start
        begin = available.begin(start)
        # Where partitions join or go on must come into the checkpoint, or it would be found out, and told, again
        at_once = draining or bool(available.stop) or bool(available.joined)
        end = self._pace.end(begin, available.next, draining=at_once)
        if end == begin and not available.joined:
            return start
        return dataclasses.replace(available, next=end)

    def begin(self, start: StreamOffset) -> None:
        """Get ready to go on from ``start``, which a query does once in each process.

        Raises:
            GroupInUseError: Someone else uses the consumer group, and the user wants that checked.
        """
        owner, wanted = start.owner or self._owner, self._config.options.commit_offsets
        if wanted or (wanted is None and self._config.follows_group):
            self._group = Group(self._cluster, owner)
        if self._config.options.check_duplicated_group:
            if self._group:
                self._group.claim(start.next)
            else:
                check_group(self._cluster, start.next, owner)

    def commit(self, offset: StreamOffset) -> None:
        """Let the consumer group follow the stream, when the user wants it to."""
        if self._group:
            self._group.commit(offset.next)

    def metrics(self) -> dict[str, Any]:
        """What the planner knows, for metrics: see `millrace.api.metrics`."""
        known: dict[str, Any] = {"skipped": self._losses.skipped}
        if self._group:
            known |= {
                "committed": nest(self._group.committed),
                "commits_succeeded": self._group.succeeded,
                "commits_failed": self._group.failed,
            }
        return known

    def stop(self) -> None:
        """The query has ended."""
        if self._group:
            self._group.release()

    def _look(self, start: StreamOffset, found: Found) -> tuple[Found, Offsets, Offsets]:
        try:
            begin, end = self._cluster.bounds(found.partitions)
        except UnknownTopicError:
            # Deleted since the last look at the topics
            found = self._subscription.find_again(start.next)
            begin, end = self._cluster.bounds(found.partitions)
        return found, begin, self._not_before(start.next, end)

    def _not_before(self, read: Offsets, end: Offsets) -> Offsets:
        """Ends that are not before what was read, where that is still in the log, if not visible at the moment."""
        before = [partition for partition, offset in read.items() if end.get(partition, offset) < offset]
        whole = self._cluster.end_of_log(before)
        return {**end, **{partition: read[partition] for partition in before if whole[partition] >= read[partition]}}


def plan_micro_batch(start: StreamOffset, end: StreamOffset, options: SourceOptions) -> list[Split]:
    """The splits of the micro-batch between two offsets: a function of its arguments alone."""
    return _splits(end.begin(start), end.next, options)


def _splits(start: Offsets, end: Offsets, options: SourceOptions) -> list[Split]:
    return plan_splits(start, end, options.parallelism or 1, options.max_records_per_split or LARGEST_SPLIT)
