"""Topics with their partitions, settings and consumer groups, for callers that must not see the Kafka client."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, UnreachableError
from millrace.kafka.admin import KafkaAdmin, LogBounds
from millrace.kafka.client_settings import client_settings
from millrace.kafka.group_offsets import committed_by_groups
from millrace.kafka.log_dirs import topic_sizes
from millrace.kafka.raw_requests import BrokerAddress
from millrace.options.secrets import Properties
from millrace.options.values import KAFKA_INTERNAL_TOPICS

MAX_GROUPS = 30
"""The number of consumer groups whose offsets are looked up: each takes a connection of its own."""


@dataclass(frozen=True)
class TopicSummary:
    """A topic in short.

    Attributes:
        name: Its name.
        partitions: The number of its partitions.
        offsets: The number of offsets in its log, an upper bound of the number of its messages.
        settings: Its settings, such as ``retention.ms``; empty where this client may not see them.
    """

    name: str
    partitions: int
    offsets: int
    settings: Mapping[str, str]


@dataclass(frozen=True)
class GroupLag:
    """The position of a consumer group in a topic.

    Attributes:
        group: The group.
        committed: Its committed offset by partition.
        lag: The number of offsets from these to the end.
    """

    group: str
    committed: Mapping[int, int]
    lag: int


@dataclass(frozen=True)
class TopicDetails:
    """A topic in full.

    Attributes:
        summary: The topic in short.
        begin: The earliest offset of each partition, by number.
        end: The offset after the last visible record of each partition.
        groups: The groups that have committed offsets of the topic, the largest lag first.
        groups_left_out: The number of groups that were not looked at, see `MAX_GROUPS`.
    """

    summary: TopicSummary
    begin: Mapping[int, int]
    end: Mapping[int, int]
    groups: Sequence[GroupLag]
    groups_left_out: int


class TopicInspector:
    """Look topics of a Kafka cluster up. Connects on first use.

    Args:
        client: Properties for the Kafka client, from `take_client_properties`.
    """

    def __init__(self, client: Properties) -> None:
        self._client = client

    def summaries(self) -> list[TopicSummary]:
        """List all topics but Kafka's internal ones, sorted by name.

        Raises:
            ClientError: The brokers refused, or did not answer.
        """
        metadata = self._admin.cluster_metadata().topics
        counts = {name: len(topic.partitions) for name, topic in metadata.items() if name not in KAFKA_INTERNAL_TOPICS}
        bounds = self._admin.bounds(_partitions(counts))
        settings = self._settings(sorted(counts))
        return [_summary(name, counts[name], bounds, settings[name]) for name in sorted(counts)]

    def sizes(self) -> dict[str, int]:
        """Look up the bytes that the replicas of each topic take on the brokers' disks, by one request to each broker.

        Raises:
            ClientError: This client may not ask, a broker did not answer, or its login is one that cannot ask this.
        """
        metadata = self._admin.cluster_metadata()
        partitions = (partition for topic in metadata.topics.values() for partition in topic.partitions.values())
        absent = {replica for partition in partitions for replica in partition.replicas} - metadata.brokers.keys()
        if absent:
            raise ClientError(
                f"broker {', '.join(map(str, sorted(absent)))} is down, so that the bytes of its replicas are not known"
            )
        addresses = [BrokerAddress(broker.id, broker.host, broker.port) for broker in metadata.brokers.values()]
        return topic_sizes(addresses, client_settings(self._client))

    def details(self, topic: str) -> TopicDetails:
        """Look a topic up with its partitions and groups.

        Raises:
            UnknownTopicError: It does not exist; the message names those that do.
            ClientError: The brokers refused, or did not answer.
        """
        described = self._admin.topics([topic], option=None)[topic]
        partitions = _partitions({topic: described.partitions})
        bounds = self._admin.bounds(partitions)
        names = self._admin.group_names()
        committed = committed_by_groups(self._client, names[:MAX_GROUPS], partitions)
        groups = [_group(name, offsets, bounds) for name, offsets in committed.items() if offsets]
        return TopicDetails(
            _summary(topic, described.partitions, bounds, self._settings([topic])[topic]),
            _by_number(bounds.begin),
            _by_number(bounds.end),
            sorted(groups, key=lambda group: (-group.lag, group.group)),
            max(0, len(names) - MAX_GROUPS),
        )

    def _settings(self, topics: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """Look up the settings of topics; none where this client may not see those of one of them."""
        try:
            return self._admin.topic_configs(topics)
        except UnreachableError:
            raise
        except ClientError:
            return {topic: {} for topic in topics}

    @functools.cached_property
    def _admin(self) -> KafkaAdmin:
        return KafkaAdmin(self._client)


def _partitions(counts: Mapping[str, int]) -> list[TopicPartition]:
    return [TopicPartition(name, number) for name, count in counts.items() for number in range(count)]


def _summary(name: str, partitions: int, bounds: LogBounds, settings: Mapping[str, str]) -> TopicSummary:
    offsets = sum(bounds.end[one] - bounds.begin[one] for one in _partitions({name: partitions}))
    return TopicSummary(name, partitions, offsets, settings)


def _by_number(offsets: Mapping[TopicPartition, int]) -> dict[int, int]:
    return {place.partition: offset for place, offset in sorted(offsets.items())}


def _group(name: str, committed: Mapping[TopicPartition, int], bounds: LogBounds) -> GroupLag:
    lag = sum(max(0, bounds.end[place] - offset) for place, offset in committed.items())
    return GroupLag(name, _by_number(committed), lag)


def retention_of(settings: Mapping[str, str]) -> int | None:
    """Return the retention time of a topic in milliseconds; None for one that keeps its messages, or is unknown."""
    text = settings.get("retention.ms", "")
    return int(text) if text.isdigit() and "delete" in settings.get("cleanup.policy", "delete") else None
