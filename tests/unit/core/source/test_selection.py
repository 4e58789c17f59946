from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from millrace.configuration.build import configure
from millrace.errors import OptionsError, UnknownTopicError
from millrace.source.selection import PartitionSet, TopicList, TopicPattern, selection_of


class Topics:
    """A cluster with these topics."""

    def __init__(self, **counts: int) -> None:
        self.counts = counts

    def all_partition_counts(self) -> dict[str, int]:
        return self.counts

    def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        return {topic: self.counts[topic] for topic in topics}


TOPICS: Any = Topics(orders=2, reorders=1, orders_eu=1, __consumer_offsets=4, __mine=1)


def select(**options: str) -> object:
    given = {name.replace("_", "-"): value for name, value in options.items()}
    return selection_of(configure({"properties.bootstrap.servers": "h:1", **given}).source.options)


def test_each_way_to_choose_is_taken() -> None:
    assert select(topic="a;b") == TopicList(("a", "b"))
    assert select(topic_pattern="a.*") == TopicPattern("a.*")
    assert select(topic_partitions="a:0,1;b:3") == PartitionSet((("a", 0), ("a", 1), ("b", 3)))


def test_no_choice_is_told() -> None:
    with pytest.raises(OptionsError, match=r"option 'topic' is required, such as 'orders'.* \(or 'topic-pattern'"):
        select()


def test_two_choices_exclude_each_other() -> None:
    with pytest.raises(OptionsError, match=r"options 'topic' and 'topic-pattern' exclude each other: give one of them"):
        select(topic="a", topic_pattern="a.*")


def test_a_pattern_matches_whole_names() -> None:
    assert TopicPattern("orders.*").partitions(TOPICS) == (("orders", 0), ("orders", 1), ("orders_eu", 0))
    assert TopicPattern("order").partitions(TOPICS) == ()


def test_a_pattern_never_matches_internal_topics() -> None:
    assert TopicPattern("__.*").partitions(TOPICS) == (("__mine", 0),)


def test_a_partition_that_a_topic_does_not_have_is_told() -> None:
    assert PartitionSet((("orders", 1),)).partitions(TOPICS) == (("orders", 1),)
    with pytest.raises(UnknownTopicError, match=r"no partition 2 in topic 'orders' .*it has 2 partitions, 0 to 1"):
        PartitionSet((("orders", 2),)).partitions(TOPICS)
