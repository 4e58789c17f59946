"""Messages of one partition, as the Kafka client fetched them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import HEADERS, TopicPartition


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages of one partition, in order, none of them an error.

    Attributes:
        partition: The partition.
        items: The messages.
        kept_values: Values in place of theirs, such as what their keys had before; None for their own.
        is_last_of_poll: Whether no messages of other partitions follow that came with the same poll.
    """

    partition: TopicPartition
    items: list[Message]
    kept_values: Sequence[bytes | None] | None = None
    is_last_of_poll: bool = True

    def values(self) -> Sequence[bytes | None]:
        """Return the value of each message."""
        return list(map(Message.value, self.items)) if self.kept_values is None else self.kept_values


def headers_column(messages: Messages) -> pa.ListArray:
    """Return the headers of messages, of type `HEADERS`: in order, repeats included, an empty list without any."""
    rows = [[{"key": key, "value": value} for key, value in message.headers() or ()] for message in messages.items]
    return pa.array(rows, HEADERS)


def describe_position(message: Message) -> str:
    """Return topic, partition and offset of a message, for errors."""
    return f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"
