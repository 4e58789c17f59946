"""What the user chose to read: a list of topics, a pattern of their names, or single partitions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError, UnknownTopicError
from millrace.kafka.cluster import Cluster
from millrace.options.connector import SourceOptions

_INTERNAL = {"__consumer_offsets", "__transaction_state", "__share_group_state"}


class Selection(Protocol):
    """A choice of partitions."""

    def partitions(self, cluster: Cluster) -> tuple[TopicPartition, ...]:
        """The chosen partitions as they are now, in order.

        Raises:
            UnreachableError: No bootstrap server answered.
            UnknownTopicError: Something that was named does not exist.
        """


def selection_of(options: SourceOptions) -> Selection:
    """The selection that the options make.

    Raises:
        OptionsError: They make none.
    """
    if options.topics:
        return TopicList(options.topics)
    if options.topic_pattern is not None:
        return TopicPattern(options.topic_pattern)
    if options.partitions:
        return PartitionSet(options.partitions)
    problem = (
        "option 'topic' is required, such as 'orders' or 'orders;audit' (or 'topic-pattern', or 'topic-partitions')"
    )
    raise OptionsError("source", (problem,))


@dataclass(frozen=True)
class TopicList:
    """All partitions of some topics, in the order of the topics."""

    topics: tuple[str, ...]

    def partitions(self, cluster: Cluster) -> tuple[TopicPartition, ...]:
        """The topics' partitions: see `Selection.partitions`."""
        counts = cluster.partition_counts(self.topics)
        return tuple(TopicPartition(topic, number) for topic in self.topics for number in range(counts[topic]))


@dataclass(frozen=True)
class TopicPattern:
    """All partitions of the topics whose whole name matches a pattern, Kafka's internal ones left out."""

    pattern: str

    def partitions(self, cluster: Cluster) -> tuple[TopicPartition, ...]:
        """The matching topics' partitions, by name; none when no topic matches: see `Selection.partitions`."""
        counts = cluster.all_partition_counts()
        names = sorted(name for name in counts.keys() - _INTERNAL if re.fullmatch(self.pattern, name))
        return tuple(TopicPartition(topic, number) for topic in names for number in range(counts[topic]))


@dataclass(frozen=True)
class PartitionSet:
    """Single partitions of some topics."""

    chosen: tuple[tuple[str, int], ...]

    def partitions(self, cluster: Cluster) -> tuple[TopicPartition, ...]:
        """The partitions themselves: see `Selection.partitions`."""
        counts = cluster.partition_counts(dict.fromkeys(topic for topic, _ in self.chosen))
        for topic, number in self.chosen:
            if number >= counts[topic]:
                raise UnknownTopicError(
                    f"no partition {number} in topic {topic!r} (option 'topic-partitions'): it has {counts[topic]} "
                    f"partitions, 0 to {counts[topic] - 1}"
                )
        return tuple(TopicPartition(topic, number) for topic, number in self.chosen)
