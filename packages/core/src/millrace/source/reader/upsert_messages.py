"""Read the messages of connector upsert-kafka: each is the row of its key, or deletes it.

See "Upsert Kafka SQL Connector" in Flink's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
    keys, items, values = primary_key.decode(messages), messages.items, messages.values()
    if keys.row is None and None not in values:
        upserts = list(range(len(items)))
        built = build(messages, keys.decoded)
    else:
        pairs = enumerate(zip(values, keys.bytes, strict=True))
        upserts = [index for index, (value, key) in pairs if value is not None and key is not None]
        chosen = replace(
            messages,
            items=[items[index] for index in upserts],
            kept_values=[values[index] for index in upserts],
        )
        built = build(chosen, None)
    row, repeated = _row_by_message(built, upserts, len(items))
    malformed = [*keys.malformed, *built.malformed, *(_several_rows(messages, index) for index in repeated)]
    malformed.sort(key=lambda record: record.message.offset())
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
        """Return a column, see `EventReader.column`."""
        return self._codec.column

    def read(self, messages: Messages) -> RowEvents:
        """Return an event for each message that is not malformed, and not blank."""
        new = table_rows(messages, self._build, self._primary_key)
        keys = [key for key in new.keys.bytes if key is not None]
        if len(keys) == len(messages.items) == new.batch.num_rows and not new.malformed:
            return RowEvents(new.batch, keys, new.row, list(range(len(keys))), new.malformed)
        is_event = [
            key is not None and (row >= 0 or value is None)
            for key, row, value in zip(new.keys.bytes, new.row, messages.values(), strict=True)
        ]
        chosen = list(compress(range(len(is_event)), is_event))
        keys = [key for key in compress(new.keys.bytes, is_event) if key is not None]
        return RowEvents(new.batch, keys, [new.row[index] for index in chosen], chosen, new.malformed)

    def to_stored(self, messages: Messages, events: RowEvents) -> Sequence[bytes | None]:
        """Return what is kept of the messages of events."""
        stored = self._codec.to_stored(messages)
        return stored if len(events.message) == len(stored) else [stored[index] for index in events.message]

    def old_rows(self, items: Sequence[Message], stored: Sequence[bytes], changed_by: Sequence[int]) -> pa.RecordBatch:
        """Return the rows of messages that were kept."""
        later = Messages(self._partition, [items[index] for index in changed_by])
        built = self._build(self._codec.from_stored(stored, later), None)
        if built.batch.num_rows != len(stored) or built.malformed:
            raise unreadable(self._partition, built.malformed[0].reason if built.malformed else "a message has no row")
        return built.batch

    def replay(self, batch: pa.RecordBatch) -> tuple[Sequence[Message], RowEvents, Sequence[bytes | None]]:
        """Return messages that give the same rows as when they were read first."""
        topic, number = self._partition
        _, stored, keys, offsets = (column.to_pylist() for column in batch.columns)
        pairs = zip(keys, offsets, strict=True)
        items = [Message(topic=topic, partition=number, offset=offset, key=key) for key, offset in pairs]
        messages = self._codec.from_stored(stored, Messages(self._partition, items))
        events = self.read(messages)
        return messages.items, events, self.to_stored(messages, events)


def unreadable(partition: TopicPartition, reason: str) -> StateError:
    """Return the error of rows that cannot be read any more."""
    return StateError(
        f"rows that are kept of {partition} cannot be read with the columns and formats that the query has now "
        f"({reason}): give those that it had, or start it with a new checkpoint"
    )
