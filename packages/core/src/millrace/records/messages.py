"""Messages of one partition, as the Kafka client fetched them."""

from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import Message

from millrace.contracts import TopicPartition


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages of one partition, in order, none of them an error."""

    partition: TopicPartition
    items: list[Message]
