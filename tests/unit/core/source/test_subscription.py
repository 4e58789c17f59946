from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import UnknownTopicError
from millrace.source.selection import TopicList
from millrace.source.subscription import Subscription


class Topics:
    """Partition counts that change, and how often they were asked for."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts
        self.asked = 0

    def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        self.asked += 1
        missing = [topic for topic in topics if topic not in self.counts]
        if missing:
            raise UnknownTopicError(missing)
        return {topic: self.counts[topic] for topic in topics}


class Clock:
    """Seconds, as a test sets them."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def subscribe(topics: Any, clock: Clock, interval_ms: int, names: tuple[str, ...] = ("a",)) -> Subscription:
    return Subscription(topics, TopicList(names), interval_ms, clock)


def test_partitions_come_by_topic_as_given_and_then_by_number(clock: Clock) -> None:
    assert subscribe(Topics(b=2, a=1, c=5), clock, 1000, ("b", "a")).partitions() == (
        TopicPartition("b", 0),
        TopicPartition("b", 1),
        TopicPartition("a", 0),
    )


def test_nothing_is_looked_up_before_it_is_needed(clock: Clock) -> None:
    topics = Topics(a=1)
    subscribe(topics, clock, 1000)
    assert topics.asked == 0


def test_a_look_up_holds_until_the_interval_has_passed(clock: Clock) -> None:
    topics = Topics(a=1)
    subscription = subscribe(topics, clock, 1000)
    subscription.partitions()
    topics.counts["a"] = 2
    clock.now += 0.999
    assert subscription.partitions() == (TopicPartition("a", 0),)
    assert topics.asked == 1
    clock.now += 0.001
    assert subscription.partitions() == (TopicPartition("a", 0), TopicPartition("a", 1))
    assert topics.asked == 2


def test_the_interval_begins_anew_with_each_look_up(clock: Clock) -> None:
    topics = Topics(a=1)
    subscription = subscribe(topics, clock, 1000)
    for _ in range(3):
        subscription.partitions()
        clock.now += 1.5
    subscription.partitions()
    clock.now += 0.5
    subscription.partitions()
    assert topics.asked == 4


@pytest.mark.parametrize("interval_ms", [0, -1])
def test_without_an_interval_one_look_up_holds_for_ever(clock: Clock, interval_ms: int) -> None:
    topics = Topics(a=1)
    subscription = subscribe(topics, clock, interval_ms)
    subscription.partitions()
    topics.counts["a"] = 2
    clock.now += 1e9
    assert subscription.partitions() == (TopicPartition("a", 0),)
    assert topics.asked == 1


def test_a_clock_that_starts_at_zero_makes_no_difference() -> None:
    clock = Clock()
    clock.now = 0.0
    topics = Topics(a=1)
    subscription = subscribe(topics, clock, 1000)
    subscription.partitions()
    subscription.partitions()
    assert topics.asked == 1


def test_a_look_up_that_fails_is_tried_again_at_the_next_call(clock: Clock) -> None:
    topics = Topics()
    subscription = subscribe(topics, clock, 0)
    with pytest.raises(UnknownTopicError):
        subscription.partitions()
    topics.counts["a"] = 1
    assert subscription.partitions() == (TopicPartition("a", 0),)
