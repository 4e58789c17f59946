from __future__ import annotations

from typing import Any

import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import OptionsError, UnknownTopicError
from millrace.source.enumerator.subscriber import (
    MISSING_PATIENCE_S,
    PartitionDiscovery,
    PartitionSetSubscriber,
    Subscriber,
    TopicListSubscriber,
    TopicPatternSubscriber,
    subscriber_for,
)
from support.clock import Clock
from support.log import Log

TOPICS: Any = Log.of_topics(orders=2, reorders=1, orders_eu=1, __consumer_offsets=4, __mine=1)


def found(selection: Subscriber, *read: tuple[str, int]) -> tuple[tuple[str, int], ...]:
    return selection.partitions(TOPICS, [TopicPartition(*partition) for partition in read]).partitions


def select(**options: str) -> object:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return subscriber_for(configure_source({"properties.bootstrap.servers": "h:1", **given}).options)


def test_each_way_to_choose_is_taken() -> None:
    assert select(topic="a;b") == TopicListSubscriber(("a", "b"))
    assert select(topic_pattern="a.*") == TopicPatternSubscriber("a.*")
    assert select(topic_partitions="a:0,1;b:3") == PartitionSetSubscriber((("a", 0), ("a", 1), ("b", 3)))


def test_no_choice_is_told() -> None:
    with pytest.raises(OptionsError, match=r"option 'topic' is required, such as 'orders'.* \(or 'topic-pattern'"):
        select()


def test_two_choices_exclude_each_other() -> None:
    with pytest.raises(OptionsError, match=r"options 'topic' and 'topic-pattern' exclude each other: give one of them"):
        select(topic="a", topic_pattern="a.*")


def test_a_pattern_matches_whole_names() -> None:
    assert found(TopicPatternSubscriber("orders.*")) == (("orders", 0), ("orders", 1), ("orders_eu", 0))
    assert found(TopicPatternSubscriber("order")) == ()


def test_a_pattern_never_matches_internal_topics() -> None:
    assert found(TopicPatternSubscriber("__.*")) == (("__mine", 0),)


def test_a_partition_that_a_topic_does_not_have_is_told() -> None:
    assert found(PartitionSetSubscriber((("orders", 1),))) == (("orders", 1),)
    with pytest.raises(UnknownTopicError, match=r"no partition 2 in topic 'orders' .*which has 2 of them"):
        found(PartitionSetSubscriber((("orders", 2),)))


@pytest.mark.parametrize(
    "selection", [TopicListSubscriber(("orders", "gone")), PartitionSetSubscriber((("orders", 0), ("gone", 1)))]
)
def test_a_topic_that_is_gone_is_left_out_if_it_was_read_before(selection: Subscriber) -> None:
    assert set(found(selection, ("gone", 1))) <= {("orders", 0), ("orders", 1)}
    with pytest.raises(UnknownTopicError):
        found(selection)


def test_a_partition_that_is_gone_is_left_out_if_it_was_read_before() -> None:
    assert found(PartitionSetSubscriber((("orders", 0), ("orders", 2))), ("orders", 2)) == (("orders", 0),)


def test_the_ids_of_the_topics_are_found_as_well() -> None:
    assert TopicListSubscriber(("orders",)).partitions(TOPICS, ()).topic_ids == {"orders": "id of orders"}


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

    subscription = PartitionDiscovery(topics, TopicListSubscriber(("a",)), 1000, clock=clock, pause=pause)
    assert subscription.partitions(read).partitions == tuple(read)
    assert len(topics.requests) == 2


def test_on_request_a_stream_that_has_begun_goes_on_without_topics_that_do_not_exist(clock: Clock) -> None:
    topics: Any = Log.of_topics(a=1)
    subscription = PartitionDiscovery(topics, TopicListSubscriber(("a", "b")), 1000, allow_missing=True, clock=clock)
    with pytest.raises(UnknownTopicError):
        subscription.partitions()
    assert subscription.partitions([TopicPartition("a", 0)]).partitions == (TopicPartition("a", 0),)
