"""Turn the messages of a table with a primary key into changes of its rows.

See ``ChangelogNormalize`` and "Upsert Kafka SQL Connector" in Flink's documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import StateError
from millrace.records.messages import Messages
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.keyed_state import KeyedState
from millrace.source.reader.primary_key import PrimaryKeyDecoder, PrimaryKeys
from millrace.source.reader.record_batch_builder import BuiltBatch
from millrace.source.reader.stored_messages import MessageCodec

BuildRows = Callable[[Messages, Decoded | None], BuiltBatch]


class Changes(NamedTuple):
    """The changes of a table by some messages.

    Attributes:
        rows: The changed rows, with their kinds.
        malformed: The messages that have none because something is wrong with them, in order.
        effective: The indices of the messages that have changed a row.
        keys: The keys of those messages.
        stored: What is kept of those messages; None of one that deletes.
    """

    rows: pa.RecordBatch
    malformed: tuple[MalformedRecord, ...]
    effective: list[int]
    keys: list[bytes]
    stored: list[bytes | None]


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


class RowBuilder(Protocol):
    """Builds the rows of messages: see `table_rows`."""

    def __call__(self, messages: Messages) -> TableRows:
        """Build the rows of some messages."""


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


class Normalizer:
    """Turn messages into changes of rows.

    Args:
        build: Builds the rows of messages with values.
        primary_key: Decodes their keys.
        codec: Says what of a message the state keeps.
        row_kind_column: The column of row kinds.
    """

    def __init__(
        self, build: BuildRows, primary_key: PrimaryKeyDecoder, codec: MessageCodec, row_kind_column: str
    ) -> None:
        self._build = build
        self._primary_key = primary_key
        self._codec = codec
        self._row_kind_column = row_kind_column

    def __call__(self, messages: Messages, state: KeyedState) -> Changes:
        """Return the changes by some messages, and make them in the state.

        Raises:
            StateError: What the state keeps cannot be read with the columns of the query.
        """
        new = table_rows(messages, self._build, self._primary_key)
        distinct = sorted({key for key in new.keys.bytes if key is not None})
        before = state.get(distinct)
        if not before and not new.malformed and len(distinct) == len(messages.items) == new.batch.num_rows:
            # Of a new table most messages are these
            stored = list(map(self._codec.to_stored, messages.items))
            keys = [key for key in new.keys.bytes if key is not None]
            state.set(dict(zip(keys, stored, strict=True)))
            return Changes(new.batch, (), list(range(len(keys))), keys, stored)
        return self._changes(messages, new, before, state)

    def _changes(self, messages: Messages, new: TableRows, before: dict[bytes, bytes], state: KeyedState) -> Changes:
        order, kinds = list[int](), list[str]()
        old_rows, old_of = list[bytes](), list[int]()
        changed, effective = dict[bytes, bytes | None](), list[int]()
        keys, stored = list[bytes](), list[bytes | None]()
        new_count, to_stored, items = new.batch.num_rows, self._codec.to_stored, messages.items
        for index, (key, row) in enumerate(zip(new.keys.bytes, new.row, strict=True)):
            value = None if key is None else to_stored(items[index])
            if key is None or (row < 0 and value is not None):
                continue
            old = before.get(key)
            if old == value:
                # The same once more, or a delete of what is not there
                continue
            if old is not None:
                order.append(new_count + len(old_rows))
                old_rows.append(old)
                old_of.append(index)
                kinds.append("-D" if value is None else "-U")
            if value is None:
                del before[key]
            else:
                order.append(row)
                kinds.append("+I" if old is None else "+U")
                before[key] = value
            changed[key] = value
            effective.append(index)
            keys.append(key)
            stored.append(value)
        state.set(changed)
        rows = self._interleave(new.batch, self._old_rows(messages, old_rows, old_of), order, kinds)
        return Changes(rows, new.malformed, effective, keys, stored)

    def _old_rows(self, messages: Messages, stored: list[bytes], changed_by: list[int]) -> pa.RecordBatch | None:
        if not stored:
            return None
        items, restore = messages.items, self._codec.from_stored
        old = [
            restore(each, items[index].key(), items[index].offset())
            for each, index in zip(stored, changed_by, strict=True)
        ]
        built = self._build(Messages(messages.partition, old), None)
        if built.batch.num_rows != len(stored) or built.malformed:
            reason = built.malformed[0].reason if built.malformed else "a message gives no row"
            raise StateError(
                f"rows that are kept of {messages.partition} cannot be read with the columns and formats that the "
                f"query has now ({reason}): give those that it had, or start it with a new checkpoint"
            )
        return built.batch

    def _interleave(
        self, new: pa.RecordBatch, old: pa.RecordBatch | None, order: list[int], kinds: list[str]
    ) -> pa.RecordBatch:
        rows, chosen = new, pa.array(order, pa.int64())
        if old is not None:
            arrays = [pa.concat_arrays(pair).take(chosen) for pair in zip(new.columns, old.columns, strict=True)]
            rows = pa.RecordBatch.from_arrays(arrays, schema=new.schema)
        elif order != list(range(new.num_rows)):
            rows = new.take(chosen)
        return with_row_kinds(rows, self._row_kind_column, pa.array(kinds, pa.string()))


def with_row_kinds(rows: pa.RecordBatch, column: str, kinds: pa.StringArray) -> pa.RecordBatch:
    """Return rows with other row kinds."""
    arrays = [kinds if name == column else rows.column(name) for name in rows.schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
