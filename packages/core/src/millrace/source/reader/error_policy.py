"""Fail a task on malformed messages, or count, collect and skip them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import Message

from millrace.contracts import DeadLetter, TopicPartition
from millrace.errors import MessageError
from millrace.monitoring.malformed_runs import SOUND, MalformedRuns, RangeRuns
from millrace.monitoring.malformed_share import is_larger_share
from millrace.monitoring.split_report import MalformedTotals
from millrace.options.connector import SourceOptions
from millrace.records.messages import Messages, describe_position
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import Split

logger = logging.getLogger("millrace.dirty_data")

MAX_COUNT_OPTION = "ingestion.error-tolerance.max-count"
MAX_RATIO_OPTION = "dirty-data.max-ratio"
MAX_CONSECUTIVE_OPTION = "dirty-data.max-consecutive"


@dataclass(frozen=True, slots=True)
class MalformedRecord:
    """A message that gives no rows because something is wrong with it.

    Attributes:
        message: The message.
        reason: What is wrong, in words for a person.
        format: The format that cannot read it.
        is_key: Whether it is the key that is wrong.
        lenient_option: The option of the format that would let it pass; None when there is none.
    """

    message: Message
    reason: str
    format: str
    is_key: bool = False
    lenient_option: str | None = None

    @property
    def partition(self) -> TopicPartition:
        """The partition of the message."""
        return TopicPartition(self.message.topic(), self.message.partition())

    @property
    def position(self) -> str:
        """Topic, partition and offset, in words."""
        return describe_position(self.message)

    @property
    def dead_letter(self) -> DeadLetter:
        """The message as collectors receive it."""
        message = self.message
        timestamp = message.timestamp()[1]
        return DeadLetter(
            topic=message.topic(),
            partition=message.partition(),
            offset=message.offset(),
            timestamp=timestamp if timestamp >= 0 else None,
            key=message.key(),
            value=message.value(),
            headers=tuple(message.headers() or ()),
            part="key" if self.is_key else "value",
            format=self.format,
            reason=self.reason,
        )

    def __str__(self) -> str:
        """Describe its position, what is wrong, and its first bytes."""
        return str(self.dead_letter)

    @property
    def hint(self) -> str:
        """Advice to the user."""
        skip = "to skip and count {}, set 'ingestion.ignore-errors' to true"
        if self.lenient_option is None:
            return skip.format("such messages").capitalize()
        return f"To let such messages pass, set {self.lenient_option!r} to true; {skip.format('them')}"


class MalformedRecordCollector(Protocol):
    """Collect the malformed messages of one task."""

    def collect(self, malformed: Sequence[MalformedRecord]) -> None:
        """Collect some messages."""

    def finish(self) -> None:
        """Return when all of them are where they belong."""


class ErrorPolicy:
    """Raise an error for the malformed messages of one task, or count, collect and skip them.

    Args:
        options: The limits of what is tolerated.
        metrics: Where to count them.
        collector: Where to collect them.
        before_end: Called by `finish` when all messages are handled, and nothing of the task is durable yet, as the
            changes of a table: a later attempt would replay these instead of reading the messages again.
    """

    def __init__(
        self,
        options: SourceOptions,
        metrics: SplitMetrics,
        collector: MalformedRecordCollector,
        before_end: Callable[[ErrorPolicy], None] | None = None,
    ) -> None:
        self._options = options
        self._before_end = before_end
        self._tolerates = options.ignore_errors
        self._max_count = options.max_errors
        self._max_ratio = options.max_error_ratio
        self._max_consecutive = options.max_consecutive_errors
        self._runs: dict[TopicPartition, MalformedRuns] = {}
        self._replayed: list[TopicPartition] = []
        self._metrics = metrics
        self._collector = collector
        self._last: MalformedRecord | None = None

    def handle(self, messages: Messages, malformed: Sequence[MalformedRecord]) -> None:
        """Handle messages of which some may be malformed.

        Args:
            messages: What was read together, in the order of each partition.
            malformed: Those of them that are malformed.

        Raises:
            MessageError: They are not tolerated, or this task has read too many.
            DeliveryError: Earlier ones could not be delivered to the topic that collects them.
        """
        if self._tolerates and self._max_consecutive is not None:
            self._add_runs(messages, malformed)
        if not malformed:
            return
        first = malformed[0]
        if not self._tolerates:
            raise MessageError(f"{first}{_describe_others(len(malformed), len(messages.items))}. {first.hint}")
        self._last = malformed[-1]
        for partition, count in Counter(record.partition for record in malformed).items():
            self._metrics.malformed(partition, count)
        self._collector.collect(malformed)
        longest_run = max((runs.longest for runs in self._runs.values()), default=0)
        totals = MalformedTotals(self._metrics.errors, self._metrics.records, longest_run)
        problem = self._too_many(totals, "this task")
        if problem is not None:
            self._collector.finish()
            raise problem

    def for_other_micro_batch(self) -> ErrorPolicy:
        """Return a policy for messages of another micro-batch, which are neither runs nor reported with these."""
        return ErrorPolicy(self._options, self._metrics, self._collector)

    def replayed(self, partition: TopicPartition) -> None:
        """Note that messages of a partition are not handled, since an earlier attempt has done so."""
        self._replayed.append(partition)

    @property
    def replayed_partitions(self) -> tuple[TopicPartition, ...]:
        """The partitions whose messages an earlier attempt has handled."""
        return tuple(self._replayed)

    def finish(self) -> None:
        """Return when all malformed messages are where they are collected, and are not too many.

        Raises:
            DeliveryError: Some could not be delivered to the topic that collects them.
            MessageError: All tasks of the query together have read too many.
        """
        self._collector.finish()
        if self._last is not None:
            logger.warning(
                "malformed messages skipped by this task (option 'ingestion.ignore-errors'): %d, the last one in %s",
                self._metrics.errors,
                self._last.position,
            )
        if self._before_end is not None:
            self._before_end(self)

    @property
    def needs_query_total(self) -> bool:
        """True if all tasks of the query together may have read too many, which the driver knows."""
        if self._max_ratio is not None:
            # The last task that reports compares the share, whether or not it has read malformed messages
            return True
        return self._last is not None and (self._max_count >= 0 or self._max_consecutive is not None)

    def runs_of(self, split: Split) -> dict[TopicPartition, RangeRuns]:
        """Return the malformed messages in a row of a split that was read; empty where no option limits them."""
        if not self._tolerates or self._max_consecutive is None:
            return {}
        # Where no message was read, none is sound; of those that an earlier attempt has read, some may be
        return {
            offsets.partition: RangeRuns(offsets.start, offsets.end, self._runs.get(offsets.partition, MalformedRuns()))
            for offsets in split.ranges
            if offsets.partition not in self._replayed
        }

    def check_share_of_task(self) -> None:
        """Fail when too large a share of the messages of this task is malformed, where no driver knows the query's.

        Raises:
            MessageError: It is.
        """
        problem = self._too_large_share(MalformedTotals(self._metrics.errors, self._metrics.records), "this task")
        if problem is not None:
            raise problem

    def check_query_total(self, total: MalformedTotals | None) -> None:
        """Fail when all tasks of the query together have read too many.

        Args:
            total: What they have read; None when the driver did not answer.

        Raises:
            MessageError: These are too many.
        """
        if total is None and self._last is None:
            return
        if total is None:
            logger.warning(
                "the driver does not answer how many malformed messages the query has read, so that %s for this task "
                "alone. Give an address of the driver by option 'scan.metrics.address'",
                self._describe_limits(),
            )
            self.check_share_of_task()
            return
        # Those that have read malformed messages know of one, and report the other limits
        too_many = None if self._last is None else self._too_many(total, "this query")
        problem = too_many or self._too_large_share(total, "this query")
        if problem is not None:
            raise problem

    def _add_runs(self, messages: Messages, malformed: Sequence[MalformedRecord]) -> None:
        bad = {id(record.message) for record in malformed}
        groups = Messages.by_partition(messages.items) if messages.is_mixed else [messages]
        for group in groups:
            new = MalformedRuns.of([id(message) in bad for message in group.items]) if bad else SOUND
            self._runs[group.partition] = self._runs.get(group.partition, MalformedRuns()).then(new)

    def _too_many(self, totals: MalformedTotals, reader: str) -> MessageError | None:
        if 0 <= self._max_count < totals.malformed:
            return MessageError(
                f"malformed messages read by {reader}: {totals.malformed}, more than the {self._max_count} that option "
                f"{MAX_COUNT_OPTION!r} allows. The last one is a {self._last}"
            )
        if self._max_consecutive is not None and totals.longest_run > self._max_consecutive:
            return MessageError(
                f"malformed messages read by {reader} one after another in a partition: {totals.longest_run}, more "
                f"than the {self._max_consecutive} that option {MAX_CONSECUTIVE_OPTION!r} allows. The last one is a "
                f"{self._last}"
            )
        return None

    def _too_large_share(self, totals: MalformedTotals, reader: str) -> MessageError | None:
        limit, malformed = self._max_ratio, totals.malformed - totals.not_compared
        if limit is None or not is_larger_share(malformed, totals.messages, limit):
            return None
        last = "" if self._last is None else f". The last one is a {self._last}"
        return MessageError(
            f"malformed messages read by {reader}: {malformed} of {totals.messages}, a larger share than the "
            f"{limit} that option {MAX_RATIO_OPTION!r} allows{last}"
        )

    def _describe_limits(self) -> str:
        limits = {
            MAX_COUNT_OPTION: self._max_count >= 0,
            MAX_RATIO_OPTION: self._max_ratio is not None,
            MAX_CONSECUTIVE_OPTION: self._max_consecutive is not None,
        }
        names = [repr(name) for name, is_set in limits.items() if is_set]
        return f"option {names[0]} holds" if len(names) == 1 else f"options {' and '.join(names)} hold"


def _describe_others(malformed: int, read: int) -> str:
    """Describe how many of the messages read with a malformed one are malformed too."""
    if malformed == 1:
        return ""
    if malformed == read:
        return f"; none of {read} messages read together can be decoded, so check the format and the declared columns"
    return f"; {malformed - 1} more of {read} messages read together are malformed"
