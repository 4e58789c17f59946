"""Topics and their newest messages, for callers that must not see the Kafka client; they may create topics, too."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from millrace.contracts import SampledMessage, TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.topic_limits import BATCH_SIZE, with_fitting_batches
from millrace.kafka.write_admin import write_admin_for
from millrace.options.secrets import Properties
from millrace.options.values import KAFKA_INTERNAL_TOPICS
from millrace.sampling.newest import newest_messages


class Topics:
    """The topics of a Kafka cluster. Connects on first use.

    Args:
        client: Properties for the Kafka client, from `take_client_properties`.
    """

    def __init__(self, client: Properties) -> None:
        self._client = client

    def names(self) -> list[str]:
        """List the names of all topics that this client may describe, without Kafka's internal ones, sorted.

        Raises:
            UnreachableError: No bootstrap server answered.
        """
        return [name for name in self._admin.topic_names() if name not in KAFKA_INTERNAL_TOPICS]

    def create_missing(
        self,
        topics: Sequence[str],
        partitions: int | None = None,
        replication_factor: int | None = None,
        config: Mapping[str, str] | None = None,
    ) -> None:
        """Create those of some topics that do not exist, and wait until they can be written to.

        Args:
            topics: The topics.
            partitions: The number of partitions of a new topic; None for the brokers' default.
            replication_factor: The number of replicas of each partition; None for the brokers' default.
            config: Settings of a new topic; the brokers' defaults for all others.

        Raises:
            UnreachableError: No bootstrap server answered.
            ClientError: The client may not create a topic, the brokers refuse it, or it does not appear in time.
        """
        write_admin_for(self._client).create_missing(topics, partitions, replication_factor, config)

    def is_compacted(self, topic: str) -> bool:
        """Return whether a topic keeps the newest message of each key; requires the permission DESCRIBE_CONFIGS."""
        return "compact" in self._admin.topic_config(topic).get("cleanup.policy", "")

    def fitting_batch_size(self, topics: Sequence[str]) -> str | None:
        """Return a value of ``batch.size`` with which some topics take batches; None where they do without it.

        Raises:
            ClientError: The brokers refused, or did not answer.
        """
        client = with_fitting_batches(self._client, write_admin_for(self._client).topic_configs(topics))
        return None if client == self._client else client[BATCH_SIZE]

    def newest(
        self, topics: Iterable[str], count: int, *, allow_missing: bool = False
    ) -> dict[str, list[SampledMessage]]:
        """Read the newest visible messages of every partition of some topics.

        Args:
            topics: The topics.
            count: How many messages of each partition; fewer if it has no more.
            allow_missing: Whether to leave out topics that do not exist.

        Returns:
            By topic, its messages by partition and offset.

        Raises:
            UnknownTopicError: A topic does not exist; the message names those that do.
            ClientError: The brokers refused, or did not answer for a minute.
        """
        names = list(topics)
        described = self._admin.topics(names, allow_missing=names if allow_missing else (), option=None)
        partitions = [
            TopicPartition(name, number) for name, topic in described.items() for number in range(topic.partitions)
        ]
        newest = newest_messages(self._client, self._admin, partitions, count)
        samples: dict[str, list[SampledMessage]] = {name: [] for name in described}
        for partition, messages in newest.items():
            samples[partition.topic] += [
                SampledMessage(
                    message.partition(),
                    message.offset(),
                    message.key(),
                    message.value(),
                    tuple(map(tuple, message.headers() or ())),
                )
                for message in messages
            ]
        return samples

    @functools.cached_property
    def _admin(self) -> KafkaAdmin:
        return KafkaAdmin(self._client)
