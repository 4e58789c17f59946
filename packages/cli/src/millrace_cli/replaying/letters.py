"""Read the dead letters of a topic, from its begin to the end that it has now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import NamedTuple

from confluent_kafka import Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import messages_and_ends, new_consumer
from millrace.kafka.errors import client_errors
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties

_MESSAGES_PER_POLL = 1_000
_POLL_S = 0.1


class DeadLetterTopic(NamedTuple):
    """A topic of dead letters.

    Attributes:
        name: Its name.
        id: Its id, which another topic of the same name does not have.
        begin: The earliest offset of each partition.
        end: The offset after the last letter of each partition.
    """

    name: str
    id: str
    begin: dict[TopicPartition, int]
    end: dict[TopicPartition, int]


def dead_letter_topic(admin: KafkaAdmin, name: str) -> DeadLetterTopic:
    """Look a topic up.

    Raises:
        UnknownTopicError: It does not exist; the message names those that do.
        ClientError: The brokers refused, or did not answer.
    """
    described = admin.topics([name], option=None)[name]
    partitions = [TopicPartition(name, number) for number in range(described.partitions)]
    bounds = admin.bounds(partitions)
    return DeadLetterTopic(name, described.id, bounds.begin, bounds.end)


def read_letters(client: Properties, topic: DeadLetterTopic) -> Iterator[list[Message]]:
    """Yield the messages of a topic, those of a partition in order.

    Args:
        client: Properties for the Kafka client.
        topic: The topic.

    Raises:
        ClientError: The brokers refused, or were silent for a minute.
    """
    unfinished = {partition for partition, end in topic.end.items() if end > topic.begin[partition]}
    consumer = new_consumer(Properties({**client, **STATISTICS_OFF}), offset_reset="earliest")
    try:
        with client_errors(f"reading topic {topic.name!r}"):
            consumer.client.assign([ClientPartition(*partition, topic.begin[partition]) for partition in unfinished])
            heard_at = monotonic()
            while unfinished:
                received = consumer.client.consume(_MESSAGES_PER_POLL, _POLL_S)
                heard_at = monotonic() if received else heard_at
                if monotonic() - heard_at > RETRY_TIMEOUT_S:
                    said = consumer.client_log.recent_errors()
                    raise ClientError(f"reading topic {topic.name!r}: nothing came for a minute{said and f': {said}'}")
                yield list(_before_end(received, topic, unfinished))
    finally:
        consumer.close()


def _before_end(
    received: Iterable[Message], topic: DeadLetterTopic, unfinished: set[TopicPartition]
) -> Iterator[Message]:
    """Yield the messages before the end; takes finished partitions away."""
    for partition, message in messages_and_ends(received):
        if message is None or message.offset() >= topic.end[partition] - 1:
            unfinished.discard(partition)
        if message is not None and message.offset() < topic.end[partition]:
            yield message
