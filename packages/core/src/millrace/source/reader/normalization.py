"""Turn the messages of a table with a primary key into changes of its rows.

See ``ChangelogNormalize`` and "Upsert Kafka SQL Connector" in Flink's documentation.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import ROW_KINDS, Decoded
from millrace.errors import StateError
from millrace.records.messages import Messages
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.keyed_state import KeyedState
from millrace.source.reader.primary_key import PrimaryKeyDecoder, PrimaryKeys
from millrace.source.reader.record_batch_builder import BuiltBatch
from millrace.source.reader.stored_messages import MessageCodec

_KINDS = pa.array(ROW_KINDS, pa.string())

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
        chosen, keys, rows, stored = self._choose(messages, new)
        distinct = sorted(set(keys))
        latest: dict[bytes, bytes | None] = {**state.get(distinct)}
        if not latest and not new.malformed and len(distinct) == len(messages.items) == new.batch.num_rows:
            # Of a new table most messages are these
            state.set(dict(zip(keys, stored, strict=True)))
            return Changes(new.batch, (), chosen, keys, stored)
        before = []
        for key, value in zip(keys, stored, strict=True):
            before.append(latest.get(key))
            latest[key] = value
        state.set(latest)
        # The same once more, or a delete of what is not there, changes nothing
        is_change = ~np.fromiter(map(operator.eq, before, stored), bool, len(keys))
        has_old = is_change & np.fromiter((each is not None for each in before), bool, len(keys))
        has_new = is_change & np.fromiter((each is not None for each in stored), bool, len(keys))
        old_at = np.flatnonzero(has_old).tolist()
        old = self._old_rows(messages, [before[at] for at in old_at], [chosen[at] for at in old_at])
        order, kinds = _order_rows(has_old, has_new, np.array(rows, np.int64), new.batch.num_rows)
        changed = self._interleave(new.batch, old, order, kinds)
        if not is_change.all():
            chosen, keys = list(itertools.compress(chosen, is_change)), list(itertools.compress(keys, is_change))
            stored = list(itertools.compress(stored, is_change))
        return Changes(changed, new.malformed, chosen, keys, stored)

    def _choose(
        self, messages: Messages, new: TableRows
    ) -> tuple[list[int], list[bytes], list[int], list[bytes | None]]:
        """Return the messages that are not malformed: their indices, keys, rows, and what is kept of them."""
        stored = list(map(self._codec.to_stored, messages.items))
        keys = [key for key in new.keys.bytes if key is not None]
        if len(keys) == len(stored) == new.batch.num_rows:
            return list(range(len(keys))), keys, new.row, stored
        is_row = [
            key is not None and (row >= 0 or value is None)
            for key, row, value in zip(new.keys.bytes, new.row, stored, strict=True)
        ]
        chosen = [index for index, is_chosen in enumerate(is_row) if is_chosen]
        keys = [key for key in itertools.compress(new.keys.bytes, is_row) if key is not None]
        return chosen, keys, [new.row[index] for index in chosen], [stored[index] for index in chosen]

    def _old_rows(self, messages: Messages, stored: list[bytes | None], changed_by: list[int]) -> pa.RecordBatch | None:
        if not stored:
            return None
        items, restore = messages.items, self._codec.from_stored
        old = [
            restore(each, items[index].key(), items[index].offset())
            for each, index in zip(stored, changed_by, strict=True)
            if each is not None
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
        self, new: pa.RecordBatch, old: pa.RecordBatch | None, order: np.ndarray, kinds: np.ndarray
    ) -> pa.RecordBatch:
        rows, chosen = new, pa.array(order)
        if old is not None:
            arrays = [pa.concat_arrays(pair).take(chosen) for pair in zip(new.columns, old.columns, strict=True)]
            rows = pa.RecordBatch.from_arrays(arrays, schema=new.schema)
        elif not np.array_equal(order, np.arange(new.num_rows)):
            rows = new.take(chosen)
        return with_row_kinds(rows, self._row_kind_column, _KINDS.take(pa.array(kinds)))


def _order_rows(
    has_old: np.ndarray, has_new: np.ndarray, new_row: np.ndarray, new_count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows stand where, and their kinds, as indices of `ROW_KINDS`.

    Args:
        has_old: For each message whether it has an old row; these rows follow the new ones.
        has_new: For each message whether it has a new row.
        new_row: For each message the number of its new row.
        new_count: The number of new rows.
    """
    counts = has_old.astype(np.int64) + has_new
    ends = counts.cumsum()
    order, kinds = np.empty(counts.sum(), np.int64), np.empty(counts.sum(), np.int8)
    old, new = np.flatnonzero(has_old), np.flatnonzero(has_new)
    old_at, new_at = ends[old] - counts[old], ends[new] - 1
    order[old_at], order[new_at] = new_count + np.arange(len(old)), new_row[new]
    kinds[old_at] = np.where(has_new[old], ROW_KINDS.index("-U"), ROW_KINDS.index("-D"))
    kinds[new_at] = np.where(has_old[new], ROW_KINDS.index("+U"), ROW_KINDS.index("+I"))
    return order, kinds


def with_row_kinds(rows: pa.RecordBatch, column: str, kinds: pa.StringArray) -> pa.RecordBatch:
    """Return rows with other row kinds."""
    arrays = [kinds if name == column else rows.column(name) for name in rows.schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)
