"""Messages as state keeps them: their values or, where a query reads metadata, all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import msgspec
from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.options.metadata import SelectedMetadata
from millrace.records.messages import Messages

_SAME_FOR_ALL = {"topic", "partition", "__raw_value__"}
"""Metadata that all messages of a partition share, or that follows from the value."""

_encode = msgspec.msgpack.Encoder().encode


class MessageCodec(Protocol):
    """Writes messages as bytes.

    Attributes:
        column: The name of the column that holds them in files, by which files of another codec are recognized.
    """

    column: str

    def to_stored(self, messages: Messages) -> Sequence[bytes | None]:
        """Return what is kept of each message; None for one without a value."""

    def from_stored(self, stored: Sequence[bytes | None], later: Messages) -> Messages:
        """Return messages that give the rows of those that were kept.

        Args:
            stored: What was kept of each; None for a message without a value.
            later: For each a message with an equal key. What is not kept is taken from it.
        """


class ValueCodec:
    """Keeps the values of messages.

    Args:
        schema_header: The header that may tell the schema of a value, and is kept before it; None if there is none.
    """

    column = "value"

    def __init__(self, schema_header: str | None) -> None:
        self._schema_header = schema_header

    def to_stored(self, messages: Messages) -> Sequence[bytes | None]:
        """Return the values of messages."""
        return messages.values_with_schemas(self._schema_header)

    def from_stored(self, stored: Sequence[bytes | None], later: Messages) -> Messages:
        """Return the later messages with the values that were kept."""
        return Messages(later.partition, later.items, stored, has_schemas=True)


class WholeCodec:
    """Keeps whole messages."""

    column = "message"

    def to_stored(self, messages: Messages) -> Sequence[bytes | None]:
        """Return all that each message has; None for one without a value."""
        return [
            None if value is None else _whole(message, value)
            for message, value in zip(messages.items, messages.values(), strict=True)
        ]

    def from_stored(self, stored: Sequence[bytes | None], later: Messages) -> Messages:
        """Return the messages that were kept."""
        pairs = zip(stored, later.items, strict=True)
        items = [item if value is None else _message(value, later.partition) for value, item in pairs]
        return Messages(later.partition, items)


def _whole(message: Message, value: bytes) -> bytes:
    headers, epoch = message.headers(), message.leader_epoch()
    return _encode((message.offset(), *message.timestamp(), epoch, headers, message.key(), value))


def _message(stored: bytes, partition: TopicPartition) -> Message:
    offset, kind, timestamp, epoch, headers, key, value = msgspec.msgpack.decode(stored)
    return Message(
        topic=partition.topic,
        partition=partition.partition,
        offset=offset,
        timestamp=(kind, timestamp),
        headers=None if headers is None else [tuple(header) for header in headers],
        key=key,
        value=value,
        **({} if epoch is None else {"leader_epoch": epoch}),
    )


def codec_for(metadata: Collection[SelectedMetadata], schema_header: str | None = None) -> MessageCodec:
    """Return the codec that keeps what a query needs.

    Args:
        metadata: The metadata columns of the query.
        schema_header: The header that may tell the schema of a value; None if there is none.
    """
    # A value that is kept behind its header is no longer as it was
    same_for_all = _SAME_FOR_ALL if schema_header is None else _SAME_FOR_ALL - {"__raw_value__"}
    needs_all = any(one.key not in same_for_all for one in metadata)
    return WholeCodec() if needs_all else ValueCodec(schema_header)
