"""Messages as the Kafka client fetched them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import HEADERS, TopicPartition


@dataclass(frozen=True, slots=True)
class Messages:
    """Some messages, in the order of their partition, none of them an error.

    Attributes:
        partition: Their partition; that of the first message where they are of several.
        items: The messages.
        kept_values: Values in place of theirs, such as what their keys had before; None for their own.
        is_mixed: Whether they may be of several partitions.
        has_schemas: Whether the values that were kept already begin as headers of their messages say.
    """

    partition: TopicPartition
    items: list[Message]
    kept_values: Sequence[bytes | None] | None = None
    is_mixed: bool = False
    has_schemas: bool = False

    @classmethod
    def joined(cls, parts: Sequence[Messages]) -> Messages:
        """Join messages that have their own values.

        Args:
            parts: The messages, at least one group of them.
        """
        if len(parts) == 1:
            return parts[0]
        return cls(parts[0].partition, [*chain.from_iterable(part.items for part in parts)], is_mixed=True)

    @classmethod
    def by_partition(cls, items: list[Message]) -> list[Messages]:
        """Group messages by their partitions."""
        groups: dict[TopicPartition, list[Message]] = {}
        for message in items:
            groups.setdefault(TopicPartition(message.topic(), message.partition()), []).append(message)
        return [cls(partition, of_partition) for partition, of_partition in groups.items()]

    def values(self) -> Sequence[bytes | None]:
        """Return the value of each message."""
        return list(map(Message.value, self.items)) if self.kept_values is None else self.kept_values

    def values_with_schemas(self, header: str | None) -> Sequence[bytes | None]:
        """Return the value of each message, behind that of the header that tells its schema.

        Args:
            header: The name of the header; None if there is none.
        """
        values = self.values()
        return values if header is None or self.has_schemas else with_schema_header(values, self.items, header)


def with_schema_header(payloads: Sequence[bytes | None], items: Sequence[Message], name: str) -> Sequence[bytes | None]:
    """Return payloads with the value of a header before each whose message has it; the last one of that name counts.

    Args:
        payloads: The keys or the values of messages.
        items: The messages.
        name: The name of the header.
    """
    headers = [message.headers() for message in items]
    if not any(headers):
        return payloads
    prefixes = [dict(message_headers).get(name) if message_headers else None for message_headers in headers]
    return [
        payload if payload is None or not header else header + payload
        for payload, header in zip(payloads, prefixes, strict=True)
    ]


def headers_column(messages: Messages) -> pa.ListArray:
    """Return the headers of messages, of type `HEADERS`: in order, repeats included, an empty list without any."""
    rows = [[{"key": key, "value": value} for key, value in message.headers() or ()] for message in messages.items]
    return pa.array(rows, HEADERS)


def describe_position(message: Message) -> str:
    """Return topic, partition and offset of a message, for errors."""
    return f"topic {message.topic()!r}, partition {message.partition()}, offset {message.offset()}"
