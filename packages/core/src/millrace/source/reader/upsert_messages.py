"""Read the messages of connector upsert-kafka: each is the row of its key, or deletes it.

See "Upsert Kafka SQL Connector" in Flink's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import Decoded, TopicPartition
from millrace.errors import StateError
from millrace.records.messages import Messages
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.normalization import RowEvents
from millrace.source.reader.primary_key import PrimaryKeyDecoder, PrimaryKeys
from millrace.source.reader.record_batch_builder import BuiltBatch
from millrace.source.reader.stored_messages import MessageCodec

BuildRows = Callable[[Messages, Decoded | None], BuiltBatch]


class TableRows(NamedTuple):
    """The rows of messages, each the latest of its key.

    Attributes:
        batch: The rows.
        row: For each message the number of its row; -1 for one without.
        keys: The keys of the messages.
        malformed: The messages in which something is wrong, in order.
    """

    batch: pa.RecordBatch
    row: list[int]
    keys: PrimaryKeys
    malformed: tuple[MalformedRecord, ...]


def table_rows(messages: Messages, build: BuildRows, primary_key: PrimaryKeyDecoder) -> TableRows:
    """Build the rows of messages, and their keys.

    Args:
        messages: The messages.
        build: Builds the rows of messages with values.
        primary_key: Decodes their keys.
    """
    keys, items = primary_key.decode(messages), messages.items
    upserts = [index for index, message in enumerate(items) if message.value() is not None]
    if keys.row is None and len(upserts) == len(items):
        built = build(messages, keys.decoded)
    else:
        upserts = [index for index in upserts if keys.bytes[index] is not None]
        built = build(Messages(messages.partition, [items[index] for index in upserts]), None)
    row, repeated = _row_by_message(built, upserts, len(items))
    malformed = [*keys.malformed, *built.malformed, *(_several_rows(messages, index) for index in repeated)]
    malformed.sort(key=lambda each: each.message.offset())
    return TableRows(built.batch, row, keys, tuple(malformed))


def _row_by_message(built: BuiltBatch, upserts: list[int], count: int) -> tuple[list[int], list[int]]:
    """Return for each message its row or -1, and the messages that have several rows."""
    if built.message_index is None and len(upserts) == count:
        return list(range(count)), []
    row = np.full(count, -1, np.int64)
    index = np.arange(built.batch.num_rows) if built.message_index is None else built.message_index
    message_of_row = np.array(upserts, np.int64)[index]
    row[message_of_row] = np.arange(len(message_of_row))
    repeated = np.unique(message_of_row[1:][np.diff(message_of_row) == 0])
    row[repeated] = -1
    return row.tolist(), repeated.tolist()


def _several_rows(messages: Messages, index: int) -> MalformedRecord:
    return MalformedRecord(messages.items[index], "it has several rows, and its key has one", "")


class UpsertReader:
    """Read messages as upserts and deletes.

    Args:
        build: Builds the rows of messages with values.
        primary_key: Decodes their keys.
        codec: Says what of a message the state keeps; None where there is no state.
        partition: The partition of the messages.
    """

    def __init__(
        self, build: BuildRows, primary_key: PrimaryKeyDecoder, codec: MessageCodec, partition: TopicPartition
    ) -> None:
        self._build = build
        self._primary_key = primary_key
        self._codec = codec
        self._partition = partition

    @property
    def column(self) -> str:
        """As `EventReader.column`."""
        return self._codec.column

    def read(self, messages: Messages) -> RowEvents:
        """Return an event for each message that is not malformed, and not blank."""
        new = table_rows(messages, self._build, self._primary_key)
        keys = [key for key in new.keys.bytes if key is not None]
        if len(keys) == len(messages.items) == new.batch.num_rows:
            return RowEvents(new.batch, keys, new.row, list(range(len(keys))), new.malformed)
        is_event = [
            key is not None and (row >= 0 or message.value() is None)
            for key, row, message in zip(new.keys.bytes, new.row, messages.items, strict=True)
        ]
        chosen = list(compress(range(len(is_event)), is_event))
        keys = [key for key in compress(new.keys.bytes, is_event) if key is not None]
        return RowEvents(new.batch, keys, [new.row[index] for index in chosen], chosen, new.malformed)

    def to_stored(self, items: Sequence[Message], events: RowEvents) -> list[bytes | None]:
        """Return what is kept of the messages of events."""
        to_stored = self._codec.to_stored
        if len(events.message) == len(items):
            return list(map(to_stored, items))
        return [to_stored(items[index]) for index in events.message]

    def old_rows(self, items: Sequence[Message], stored: Sequence[bytes], changed_by: Sequence[int]) -> pa.RecordBatch:
        """Return the rows of messages that were kept."""
        restore = self._codec.from_stored
        old = [
            restore(each, items[index].key(), items[index].offset())
            for each, index in zip(stored, changed_by, strict=True)
        ]
        built = self._build(Messages(self._partition, old), None)
        if built.batch.num_rows != len(stored) or built.malformed:
            raise unreadable(self._partition, built.malformed[0].reason if built.malformed else "a message has no row")
        return built.batch

    def replay(self, batch: pa.RecordBatch) -> tuple[Sequence[Message], RowEvents, list[bytes | None]]:
        """Return messages that give the same rows as when they were read first."""
        (topic, number), restore = self._partition, self._codec.from_stored
        _, stored, keys, offsets = (column.to_pylist() for column in batch.columns)
        items = [
            Message(topic=topic, partition=number, offset=offset, key=key)
            if value is None
            else restore(value, key, offset)
            for value, key, offset in zip(stored, keys, offsets, strict=True)
        ]
        events = self.read(Messages(self._partition, items))
        return items, events, self.to_stored(items, events)


def unreadable(partition: TopicPartition, reason: str) -> StateError:
    """Return the error of rows that cannot be read any more."""
    return StateError(
        f"rows that are kept of {partition} cannot be read with the columns and formats that the query has now "
        f"({reason}): give those that it had, or start it with a new checkpoint"
    )
