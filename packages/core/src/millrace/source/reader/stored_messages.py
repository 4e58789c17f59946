"""Messages as state keeps them: their values or, where a query reads metadata, all of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import msgspec
from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.options.metadata import MetadataColumn

_SAME_FOR_ALL = {"topic", "partition", "__raw_value__"}
"""Metadata that all messages of a partition share, or that follows from the value."""

_encode = msgspec.msgpack.Encoder().encode


class MessageCodec(Protocol):
    """Writes messages as bytes.

    Attributes:
        column: The name of the column that holds them in files, by which files of another codec are told.
    """

    column: str

    def to_stored(self, message: Message) -> bytes | None:
        """Return what is kept of a message; None for one without a value."""

    def from_stored(self, stored: bytes, key: bytes | None, offset: int) -> Message:
        """Return a message that gives the row of the one that was kept.

        Args:
            stored: What was kept of it.
            key: A key that is equal to its own.
            offset: An offset for it, where none is kept.
        """


class ValueCodec:
    """Keeps the values of messages.

    Args:
        partition: The partition of the messages.
    """

    column = "value"

    def __init__(self, partition: TopicPartition) -> None:
        self._topic, self._partition = partition

    def to_stored(self, message: Message) -> bytes | None:
        """Return the value of a message."""
        return message.value()

    def from_stored(self, stored: bytes, key: bytes | None, offset: int) -> Message:
        """Return a message with a value."""
        return Message(topic=self._topic, partition=self._partition, offset=offset, key=key, value=stored)


class WholeCodec:
    """Keeps whole messages.

    Args:
        partition: The partition of the messages.
    """

    column = "message"

    def __init__(self, partition: TopicPartition) -> None:
        self._topic, self._partition = partition

    def to_stored(self, message: Message) -> bytes | None:
        """Return all that a message has; None for one without a value."""
        value = message.value()
        if value is None:
            return None
        headers, epoch = message.headers(), message.leader_epoch()
        return _encode((message.offset(), *message.timestamp(), epoch, headers, message.key(), value))

    def from_stored(self, stored: bytes, key: bytes | None, offset: int) -> Message:
        """Return the message that was kept."""
        offset, kind, timestamp, epoch, headers, key, value = msgspec.msgpack.decode(stored)
        return Message(
            topic=self._topic,
            partition=self._partition,
            offset=offset,
            timestamp=(kind, timestamp),
            headers=None if headers is None else [tuple(header) for header in headers],
            key=key,
            value=value,
            **({} if epoch is None else {"leader_epoch": epoch}),
        )


def codec_for(metadata: Collection[MetadataColumn], partition: TopicPartition) -> MessageCodec:
    """Return the codec that keeps what a query needs.

    Args:
        metadata: The metadata columns of the query.
        partition: The partition of the messages.
    """
    needs_all = any(one.key not in _SAME_FOR_ALL for one in metadata)
    return WholeCodec(partition) if needs_all else ValueCodec(partition)
