"""Messages of one partition, as the Kafka client fetched them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import HEADERS, TopicPartition


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages of one partition, in order, none of them an error."""

    partition: TopicPartition
    items: list[Message]


def headers_column(messages: Messages) -> pa.ListArray:
    """Return the headers of messages, of type `HEADERS`: in order, repeats included, an empty list without any."""
    rows = [[{"key": key, "value": value} for key, value in message.headers() or ()] for message in messages.items]
    return pa.array(rows, HEADERS)


def describe_position(message: Message) -> str:
    """Return topic, partition and offset of a message, for errors."""
    return f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"
