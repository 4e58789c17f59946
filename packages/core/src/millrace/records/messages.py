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


def headers_of(messages: Messages) -> pa.ListArray:
    """The headers of messages, of type `HEADERS`: in order, repeats included, an empty list where there are none."""
    rows = [[{"key": key, "value": value} for key, value in message.headers() or ()] for message in messages.items]
    return pa.array(rows, HEADERS)
