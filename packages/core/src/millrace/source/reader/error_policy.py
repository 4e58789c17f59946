"""Fail a task on malformed messages, or count, collect and skip them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import Message

from millrace.contracts import DeadLetter, TopicPartition
from millrace.errors import MessageError
from millrace.options.connector import SourceOptions
from millrace.records.messages import Messages, describe_position
from millrace.source.reader.split_metrics import SplitMetrics

logger = logging.getLogger("millrace.dirty_data")

MAX_COUNT_OPTION = "ingestion.error-tolerance.max-count"


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
    """

    def __init__(self, options: SourceOptions, metrics: SplitMetrics, collector: MalformedRecordCollector) -> None:
        self._tolerates = options.ignore_errors
        self._max_count = options.max_errors
        self._metrics = metrics
        self._collector = collector
        self._last: MalformedRecord | None = None

    def handle(self, messages: Messages, malformed: Sequence[MalformedRecord]) -> None:
        """Handle malformed messages.

        Args:
            messages: What was read together.
            malformed: Those of them that are malformed.

        Raises:
            MessageError: They are not tolerated, or this task has read too many.
            DeliveryError: Earlier ones could not be delivered to the topic that collects them.
        """
        first = malformed[0]
        if not self._tolerates:
            raise MessageError(f"{first}{_describe_others(len(malformed), len(messages.items))}. {first.hint}")
        self._last = malformed[-1]
        for partition, count in Counter(record.partition for record in malformed).items():
            self._metrics.malformed(partition, count)
        self._collector.collect(malformed)
        if self._is_too_many(self._metrics.errors):
            self._collector.finish()
            raise self._too_many(self._metrics.errors, "this task")

    def finish(self) -> None:
        """Return when all malformed messages are where they are collected.

        Raises:
            DeliveryError: Some could not be delivered to the topic that collects them.
        """
        self._collector.finish()
        if self._last is not None:
            logger.warning(
                "malformed messages skipped by this task (option 'ingestion.ignore-errors'): %d, the last one in %s",
                self._metrics.errors,
                self._last.position,
            )

    @property
    def needs_query_total(self) -> bool:
        """True if all tasks of the query together may have read too many, which the driver knows."""
        return self._last is not None and self._max_count >= 0

    def check_query_total(self, total: int | None) -> None:
        """Fail when all tasks of the query together have read too many.

        Args:
            total: How many they have read; None when the driver did not answer.

        Raises:
            MessageError: These are too many.
        """
        if total is None:
            logger.warning(
                "the driver does not answer how many malformed messages the query has read, so that option %r holds "
                "for this task alone. Give an address of the driver by option 'scan.metrics.address'",
                MAX_COUNT_OPTION,
            )
        elif self._is_too_many(total):
            raise self._too_many(total, "this query")

    def _is_too_many(self, count: int) -> bool:
        return 0 <= self._max_count < count

    def _too_many(self, count: int, reader: str) -> MessageError:
        return MessageError(
            f"malformed messages read by {reader}: {count}, more than the {self._max_count} that option "
            f"{MAX_COUNT_OPTION!r} allows. The last one is a {self._last}"
        )


def _describe_others(malformed: int, read: int) -> str:
    """Describe how many of the messages read with a malformed one are malformed too."""
    if malformed == 1:
        return ""
    if malformed == read:
        return f"; none of {read} messages read together can be decoded, so check the format and the declared columns"
    return f"; {malformed - 1} more of {read} messages read together are malformed"
