"""What the user chose to read: a list of topics, a pattern of their names, or single partitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError, UnknownTopicError
from millrace.kafka.admin import KafkaAdmin, Topic
from millrace.options.connector import SourceOptions
from millrace.options.values import topic_matcher


@dataclass(frozen=True)
class Found:
    """What a selection finds.

    Attributes:
        partitions: The chosen partitions, in order.
        ids: The ids of their topics; a topic that is made again under its old name has another one.
    """

    partitions: tuple[TopicPartition, ...]
    ids: Mapping[str, str]


class Selection(Protocol):
    """A choice of partitions."""

    def find(self, cluster: KafkaAdmin, may_lack: Collection[TopicPartition] | None) -> Found:
        """The chosen partitions as they are now.

        Args:
            cluster: Where to look.
            may_lack: What is left out, with the rest of its topics, when it does not exist; None for whatever it is.

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

    def find(self, cluster: KafkaAdmin, may_lack: Collection[TopicPartition] | None) -> Found:
        """The topics' partitions: see `Selection.find`."""
        return _all_of(cluster.topics(self.topics, may_lack=_topics(may_lack, self.topics)))


@dataclass(frozen=True)
class TopicPattern:
    """All partitions of the topics whose whole name matches a pattern, Kafka's internal ones left out."""

    pattern: str

    def find(self, cluster: KafkaAdmin, may_lack: Collection[TopicPartition] | None) -> Found:
        """The matching topics' partitions, by name; none when no topic matches: see `Selection.find`."""
        names = list(filter(topic_matcher(self.pattern), cluster.topic_names()))
        # Those that are deleted between the two looks are not there
        return _all_of(cluster.topics(names, may_lack=names))


@dataclass(frozen=True)
class PartitionSet:
    """Single partitions of some topics."""

    chosen: tuple[tuple[str, int], ...]

    def find(self, cluster: KafkaAdmin, may_lack: Collection[TopicPartition] | None) -> Found:
        """The partitions themselves: see `Selection.find`."""
        names = [topic for topic, _ in self.chosen]
        topics = cluster.topics(names, may_lack=_topics(may_lack, names))
        counts = {name: topic.partitions for name, topic in topics.items()}
        for topic, number in self.chosen:
            count = counts.get(topic, 0)
            if may_lack is not None and number >= count and (topic, number) not in may_lack:
                raise UnknownTopicError(
                    f"no partition {number} in topic {topic!r} (option 'topic-partitions'), which has {count} of them, "
                    f"counted from 0"
                )
        there = (TopicPartition(topic, number) for topic, number in self.chosen if number < counts.get(topic, 0))
        return Found(tuple(there), _ids(topics))


def _topics(partitions: Collection[TopicPartition] | None, otherwise: Collection[str]) -> set[str]:
    return set(otherwise) if partitions is None else {partition.topic for partition in partitions}


def _all_of(topics: Mapping[str, Topic]) -> Found:
    partitions = (TopicPartition(name, number) for name in topics for number in range(topics[name].partitions))
    return Found(tuple(partitions), _ids(topics))


def _ids(topics: Mapping[str, Topic]) -> dict[str, str]:
    return {name: topic.id for name, topic in topics.items()}
