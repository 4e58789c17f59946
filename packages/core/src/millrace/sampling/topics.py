"""Topics and their newest messages, for who must not see the Kafka client."""

from __future__ import annotations

from collections.abc import Iterable

from millrace.contracts import SampledMessage, TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.options.secrets import Properties
from millrace.options.values import KAFKA_INTERNAL_TOPICS
from millrace.sampling.newest import newest_messages


class Topics:
    """The topics of a Kafka cluster; it connects when it is first asked.

    Args:
        client: Properties for the Kafka client, as `take_client_properties` makes them.
    """

    def __init__(self, client: Properties) -> None:
        self._client = client
        self._made: KafkaAdmin | None = None

    def names(self) -> list[str]:
        """The names of all topics that this client may see, Kafka's own left out, sorted.

        Raises:
            UnreachableError: No bootstrap server answered.
        """
        return [name for name in self._cluster.topic_names() if name not in KAFKA_INTERNAL_TOPICS]

    def is_compacted(self, topic: str) -> bool:
        """Whether a topic keeps the newest message of each key; it takes the permission to describe its settings."""
        return "compact" in self._cluster.settings_of(topic).get("cleanup.policy", "")

    def newest(self, topics: Iterable[str], count: int, *, may_lack: bool = False) -> dict[str, list[SampledMessage]]:
        """The newest visible messages of every partition of some topics, by partition and offset.

        Args:
            topics: The topics.
            count: How many messages of each partition; fewer where there are no more.
            may_lack: Whether topics that do not exist are left out.

        Raises:
            UnknownTopicError: A topic does not exist; the message names those that do.
            ClientError: The brokers refused, or did not answer for a minute.
        """
        names = list(topics)
        found = self._cluster.topics(names, may_lack=names if may_lack else (), option=None)
        partitions = [TopicPartition(name, number) for name in found for number in range(found[name].partitions)]
        newest = newest_messages(self._client, self._cluster, partitions, count)
        samples: dict[str, list[SampledMessage]] = {name: [] for name in found}
        for at, messages in newest.items():
            samples[at.topic] += [
                SampledMessage(each.partition(), each.offset(), each.key(), each.value()) for each in messages
            ]
        return samples

    @property
    def _cluster(self) -> KafkaAdmin:
        if self._made is None:
            self._made = KafkaAdmin(self._client)
        return self._made
