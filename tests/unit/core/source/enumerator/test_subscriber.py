from __future__ import annotations

from typing import Any

import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import OptionsError, UnknownTopicError
from millrace.source.enumerator.subscriber import (
    PartitionSetSubscriber,
    Subscriber,
    TopicListSubscriber,
    TopicPatternSubscriber,
    subscriber_for,
)
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
