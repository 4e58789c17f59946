from __future__ import annotations

from typing import Any

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import UnknownTopicError
from millrace.source.enumerator.subscriber import MISSING_PATIENCE_S, PartitionDiscovery, TopicListSubscriber
from support.clock import Clock
from support.log import Log


@pytest.fixture
def clock() -> Clock:
    return Clock()


def subscribe(topics: Any, clock: Clock, interval_ms: int, names: tuple[str, ...] = ("a",)) -> PartitionDiscovery:
    def pause(seconds: float) -> None:
        clock.now += seconds

    return PartitionDiscovery(topics, TopicListSubscriber(names), interval_ms, clock=clock, pause=pause)


def add(topics: Log, partition: int) -> None:
    topics.logs[TopicPartition("a", partition)] = (0, 0)


def test_partitions_come_by_topic_as_given_and_then_by_number(clock: Clock) -> None:
    assert subscribe(Log.of_topics(b=2, a=1, c=5), clock, 1000, ("b", "a")).partitions().partitions == (
        TopicPartition("b", 0),
        TopicPartition("b", 1),
        TopicPartition("a", 0),
    )


def test_nothing_is_looked_up_before_it_is_needed(clock: Clock) -> None:
    topics = Log.of_topics(a=1)
    subscribe(topics, clock, 1000)
    assert len(topics.requests) == 0


def test_a_look_up_holds_until_the_interval_has_passed(clock: Clock) -> None:
    topics = Log.of_topics(a=1)
    subscription = subscribe(topics, clock, 1000)
    subscription.partitions()
    add(topics, 1)
    clock.now += 0.999
    assert subscription.partitions().partitions == (TopicPartition("a", 0),)
    assert len(topics.requests) == 1
    clock.now += 0.001
    assert subscription.partitions().partitions == (TopicPartition("a", 0), TopicPartition("a", 1))
    assert len(topics.requests) == 2


def test_the_interval_begins_anew_with_each_look_up(clock: Clock) -> None:
    topics = Log.of_topics(a=1)
    subscription = subscribe(topics, clock, 1000)
    for _ in range(3):
        subscription.partitions()
        clock.now += 1.5
    subscription.partitions()
    clock.now += 0.5
    subscription.partitions()
    assert len(topics.requests) == 4


@pytest.mark.parametrize("interval_ms", [0, -1])
def test_without_an_interval_one_look_up_holds_for_ever(clock: Clock, interval_ms: int) -> None:
    topics = Log.of_topics(a=1)
    subscription = subscribe(topics, clock, interval_ms)
    subscription.partitions()
    add(topics, 1)
    clock.now += 1e9
    assert subscription.partitions().partitions == (TopicPartition("a", 0),)
    assert len(topics.requests) == 1


def test_a_clock_that_starts_at_zero_makes_no_difference() -> None:
    clock = Clock()
    clock.now = 0.0
    topics = Log.of_topics(a=1)
    subscription = subscribe(topics, clock, 1000)
    subscription.partitions()
    subscription.partitions()
    assert len(topics.requests) == 1


def test_a_look_up_that_fails_is_tried_again_at_the_next_call(clock: Clock) -> None:
    topics = Log.of_topics()
    subscription = subscribe(topics, clock, 0)
    with pytest.raises(UnknownTopicError):
        subscription.partitions()
    add(topics, 0)
    assert subscription.partitions().partitions == (TopicPartition("a", 0),)


def test_what_was_read_counts_as_gone_only_after_several_looks(clock: Clock) -> None:
    topics, began = Log.of_topics(a=1), clock.now
    read = [TopicPartition("a", 0), TopicPartition("a", 1)]
    assert subscribe(topics, clock, 1000).partitions(read).partitions == (TopicPartition("a", 0),)
    assert clock.now - began >= MISSING_PATIENCE_S
    assert len(topics.requests) > 3


def test_what_comes_back_in_time_is_not_gone(clock: Clock) -> None:
    topics = Log.of_topics(a=1)
    read = [TopicPartition("a", 0), TopicPartition("a", 1)]

    def pause(seconds: float) -> None:
        add(topics, 1)

    subscription = PartitionDiscovery(topics, TopicListSubscriber(("a",)), 1000, clock=clock, pause=pause)  # type: ignore[arg-type]
    assert subscription.partitions(read).partitions == tuple(read)
    assert len(topics.requests) == 2


def test_on_request_a_stream_that_has_begun_goes_on_without_topics_that_do_not_exist(clock: Clock) -> None:
    topics: Any = Log.of_topics(a=1)
    subscription = PartitionDiscovery(topics, TopicListSubscriber(("a", "b")), 1000, allow_missing=True, clock=clock)
    with pytest.raises(UnknownTopicError):
        subscription.partitions()
    assert subscription.partitions([TopicPartition("a", 0)]).partitions == (TopicPartition("a", 0),)
