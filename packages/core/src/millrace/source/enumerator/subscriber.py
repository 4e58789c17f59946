"""Subscribe to a list of topics, a pattern of their names, or single partitions, and discover new partitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from millrace.checkpoint import UNKNOWN_TOPIC_ID
from millrace.contracts import TopicPartition
from millrace.errors import OptionsError, UnknownTopicError
from millrace.kafka.admin import Topic
from millrace.kafka.retry import Clock, poll
from millrace.options.connector import SourceOptions
from millrace.options.suggestions import closest
from millrace.options.values import topic_matcher
from millrace.source.data_loss_messages import logger

MISSING_PATIENCE_S = 3.0
"""Seconds that partitions must be missing before they count as gone: a broker that has just started may not know all
topics yet."""

MISSING_PAUSE_S = 0.5


@dataclass(frozen=True)
class SubscribedPartitions:
    """The partitions that match a subscription.

    Attributes:
        partitions: The partitions, in order.
        topic_ids: The ids of their topics (KIP-516), where brokers tell them; a topic that is created again under its
            old name has another one.
    """

    partitions: tuple[TopicPartition, ...]
    topic_ids: Mapping[str, str]

    def has_another(self, topic: str, ids: Mapping[str, str]) -> bool:
        """Return whether a topic is another one than it was, by its id; one that is not known says nothing."""
        return topic in ids and self.topic_ids.get(topic, ids[topic]) != ids[topic]


class TopicLookup(Protocol):
    """The topics of a cluster."""

    def topics(self, names: Iterable[str], allow_missing: Collection[str]) -> dict[str, Topic]:
        """Return what some topics are now, by name."""

    def topic_names(self) -> list[str]:
        """Return the names of all topics, in order."""


class Subscriber(Protocol):
    """A choice of partitions."""

    def partitions(self, admin: TopicLookup, allow_missing: Collection[TopicPartition] | None) -> SubscribedPartitions:
        """Return the chosen partitions as they are now.

        Args:
            admin: Where to look.
            allow_missing: What is left out, with the rest of its topics, when it does not exist; None for whatever it
                is.

        Raises:
            UnreachableError: No bootstrap server answered.
            UnknownTopicError: Something that was named does not exist.
        """


def subscriber_for(options: SourceOptions) -> Subscriber:
    """Return the subscriber that the options ask for.

    Raises:
        OptionsError: They choose nothing.
    """
    if options.topics:
        return TopicListSubscriber(options.topics)
    if options.topic_pattern is not None:
        return TopicPatternSubscriber(options.topic_pattern)
    if options.partitions:
        return PartitionSetSubscriber(options.partitions)
    problem = (
        "option 'topic' is required, such as 'orders' or 'orders;audit' (or 'topic-pattern', or 'topic-partitions')"
    )
    raise OptionsError("source", (problem,))


@dataclass(frozen=True)
class TopicListSubscriber:
    """Subscribe to all partitions of some topics, in the order of the topics."""

    topics: tuple[str, ...]

    def partitions(self, admin: TopicLookup, allow_missing: Collection[TopicPartition] | None) -> SubscribedPartitions:
        """Return the topics' partitions: see `Subscriber.partitions`."""
        return _all_partitions(admin.topics(self.topics, allow_missing=_topic_names(allow_missing, self.topics)))


@dataclass(frozen=True)
class TopicPatternSubscriber:
    """Subscribe to the topics whose whole name matches a pattern, Kafka's internal ones left out."""

    pattern: str

    def partitions(self, admin: TopicLookup, allow_missing: Collection[TopicPartition] | None) -> SubscribedPartitions:
        """Return the matching topics' partitions, by name; none when no topic matches: see `Subscriber.partitions`."""
        existing = admin.topic_names()
        names = list(filter(topic_matcher(self.pattern), existing))
        if not names:
            close = closest(self.pattern, existing)
            hint = f", such as {close!r}" if close else ""
            logger.warning(
                "option 'topic-pattern': no topic matches %r as a whole; there are %d others%s, as far as this user "
                "may see them. Nothing is read until one is created",
                self.pattern,
                len(existing),
                hint,
            )
        # A topic may be deleted between the two requests
        return _all_partitions(admin.topics(names, allow_missing=names))


@dataclass(frozen=True)
class PartitionSetSubscriber:
    """Subscribe to single partitions of some topics."""

    chosen: tuple[tuple[str, int], ...]

    def partitions(self, admin: TopicLookup, allow_missing: Collection[TopicPartition] | None) -> SubscribedPartitions:
        """Return the partitions themselves: see `Subscriber.partitions`."""
        names = [topic for topic, _ in self.chosen]
        topics = admin.topics(names, allow_missing=_topic_names(allow_missing, names))
        counts = {name: topic.partitions for name, topic in topics.items()}
        for topic, number in self.chosen:
            count = counts.get(topic, 0)
            if allow_missing is not None and number >= count and (topic, number) not in allow_missing:
                raise UnknownTopicError(
                    f"no partition {number} in topic {topic!r} (option 'topic-partitions'), which has {count} of them, "
                    f"counted from 0"
                )
        existing = (TopicPartition(topic, number) for topic, number in self.chosen if number < counts.get(topic, 0))
        return SubscribedPartitions(tuple(existing), _topic_ids(topics))


class PartitionDiscovery:
    """Look up the subscribed partitions again from time to time, since they come and go while a query runs.

    See "Dynamic partition discovery" in the documentation of Flink's Kafka connector.

    Args:
        admin: Where the topics are.
        subscriber: What to read.
        interval_ms: How long a look-up holds; 0 or less for ever.
        allow_missing: Whether a stream that has begun goes on without topics that do not exist.
        clock: Monotonic clock, in seconds.
        pause: Waits for some seconds.
    """

    def __init__(
        self,
        admin: TopicLookup,
        subscriber: Subscriber,
        interval_ms: int,
        *,
        allow_missing: bool = False,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._admin = admin
        self._subscriber = subscriber
        self._interval_s = interval_ms / 1000
        self._allow_missing = allow_missing
        self._clock = clock
        self._pause = pause
        self._latest: SubscribedPartitions | None = None
        self._refreshed_at = 0.0

    def partitions(self, read: Collection[TopicPartition] = ()) -> SubscribedPartitions:
        """Return the subscribed partitions; looked up at first and then again whenever the interval has passed.

        Args:
            read: What was read before, and may be gone by now; what else was named must exist.

        Raises:
            UnreachableError, UnknownTopicError: As `Subscriber.partitions`.
        """
        if self._latest is None or self._is_due():
            return self.refresh(read)
        return self._latest

    def refresh(self, read: Collection[TopicPartition]) -> SubscribedPartitions:
        """Look up the subscribed partitions now: see `partitions`."""
        self._latest = self._look_up(read)
        self._refreshed_at = self._clock()
        return self._latest

    def _look_up(self, read: Collection[TopicPartition]) -> SubscribedPartitions:
        allow_missing = None if self._allow_missing and read else read
        return poll(
            lambda: self._subscriber.partitions(self._admin, allow_missing),
            until=lambda subscribed: set(read) <= set(subscribed.partitions),
            timeout_s=MISSING_PATIENCE_S,
            interval_s=MISSING_PAUSE_S,
            clock=Clock(self._clock, self._pause),
        )

    def _is_due(self) -> bool:
        return self._interval_s > 0 and self._clock() - self._refreshed_at >= self._interval_s


def _topic_names(partitions: Collection[TopicPartition] | None, default: Collection[str]) -> set[str]:
    return set(default) if partitions is None else {partition.topic for partition in partitions}


def _all_partitions(topics: Mapping[str, Topic]) -> SubscribedPartitions:
    partitions = (TopicPartition(name, number) for name in topics for number in range(topics[name].partitions))
    return SubscribedPartitions(tuple(partitions), _topic_ids(topics))


def _topic_ids(topics: Mapping[str, Topic]) -> dict[str, str]:
    return {name: topic.id for name, topic in topics.items() if topic.id != UNKNOWN_TOPIC_ID}
