"""Turn the events of a table with a primary key into changes of its rows, by the rows that it has.

See ``ChangelogNormalize`` in Flink.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import ROW_KINDS
from millrace.records.messages import Messages
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.keyed_state import KeyedState

_KINDS = pa.array(ROW_KINDS, pa.string())


class RowEvents(NamedTuple):
    """The rows that messages put in the place of those of their keys, and the keys that they delete.

    Attributes:
        batch: The rows, as insertions.
        keys: For each event the bytes of its key.
        row: For each event the number of its row; -1 for one that deletes.
        message: For each event the index of its message.
        malformed: The messages that have none because something is wrong with them, in order.
    """

    batch: pa.RecordBatch
    keys: list[bytes]
    row: list[int]
    message: list[int]
    malformed: tuple[MalformedRecord, ...]


class NormalizedChanges(NamedTuple):
    """The changes of a table by some events.

    Attributes:
        rows: The changed rows, with their kinds.
        malformed: The messages in which something is wrong, in order.
        effective: For each event that has changed a row the index of its message.
        keys: The keys of these events.
        stored: What is kept of their rows; None of one that deletes.
    """

    rows: pa.RecordBatch
    malformed: tuple[MalformedRecord, ...]
    effective: list[int]
    keys: list[bytes]
    stored: Sequence[bytes | None]


class EventReader(Protocol):
    """Reads the events of messages, and writes their rows as state keeps them."""

    @property
    def column(self) -> str:
        """The name of the column that holds kept rows in files, by which files of another reader are recognized."""

    def read(self, messages: Messages) -> RowEvents:
        """Return the events of messages."""

    def to_stored(self, messages: Messages, events: RowEvents) -> Sequence[bytes | None]:
        """Return for each event what is kept of its row; None for one that deletes."""

    def old_rows(self, items: Sequence[Message], stored: Sequence[bytes], changed_by: Sequence[int]) -> pa.RecordBatch:
        """Return rows that were kept.

        Args:
            items: Some messages.
            stored: What was kept.
            changed_by: For each row the index of a message that changes it.

        Raises:
            StateError: They cannot be read with the columns of the query.
        """

    def replay(self, batch: pa.RecordBatch) -> tuple[Sequence[Message], RowEvents, Sequence[bytes | None]]:
        """Return the messages that a file of changes has, their events, and what is kept of these."""


class Normalizer:
    """Turn events into changes of rows.

    Args:
        reader: Reads the events.
        row_kind_column: The column of row kinds.
    """

    def __init__(self, reader: EventReader, row_kind_column: str) -> None:
        self._reader = reader
        self._row_kind_column = row_kind_column

    def __call__(self, messages: Messages, state: KeyedState) -> NormalizedChanges:
        """Return the changes by some messages, and make them in the state.

        Raises:
            StateError: What the state keeps cannot be read with the columns of the query.
        """
        # Values are asked for several times
        messages = Messages(messages.partition, messages.items, messages.values())
        events = self._reader.read(messages)
        return self._change(messages.items, events, self._reader.to_stored(messages, events), state)

    def replay(self, batch: pa.RecordBatch, state: KeyedState) -> pa.RecordBatch:
        """Return the rows of changes that an earlier attempt has written to a file, and make them in the state."""
        return self._change(*self._reader.replay(batch), state).rows

    def _change(
        self, items: Sequence[Message], events: RowEvents, stored: Sequence[bytes | None], state: KeyedState
    ) -> NormalizedChanges:
        keys, effective = events.keys, events.message
        before = _exchange(state, keys, stored)
        if before.count(None) == len(keys) == events.batch.num_rows and not events.malformed:
            # Of a new table most events are these
            return NormalizedChanges(events.batch, (), effective, keys, stored)
        # The same once more, or a delete of what is not there, changes nothing
        is_change = ~np.fromiter(map(operator.eq, before, stored), bool, len(keys))
        has_old = is_change & np.fromiter((value is not None for value in before), bool, len(keys))
        has_new = is_change & np.fromiter((value is not None for value in stored), bool, len(keys))
        old_at = np.flatnonzero(has_old).tolist()
        old_values = [value for value in map(before.__getitem__, old_at) if value is not None]
        old = self._reader.old_rows(items, old_values, [effective[at] for at in old_at]) if old_values else None
        order, kinds = _order_rows(has_old, has_new, np.array(events.row, np.int64), events.batch.num_rows)
        changed = self._interleave(events.batch, old, order, kinds)
        if not is_change.all():
            effective, keys = list(itertools.compress(effective, is_change)), list(itertools.compress(keys, is_change))
            stored = list(itertools.compress(stored, is_change))
        return NormalizedChanges(changed, events.malformed, effective, keys, stored)

    def _interleave(
        self, new: pa.RecordBatch, old: pa.RecordBatch | None, order: np.ndarray, kinds: np.ndarray
    ) -> pa.RecordBatch:
        rows = interleave(new, old, order)
        return with_row_kinds(rows, self._row_kind_column, _KINDS.take(pa.array(kinds)))


def _exchange(state: KeyedState, keys: list[bytes], values: Sequence[bytes | None]) -> list[bytes | None]:
    """Set the values of keys in order, and return what each replaces."""
    latest = dict(zip(keys, values, strict=True))
    if len(latest) == len(keys):
        before = state.get(keys)
    else:
        distinct = list(latest)
        now = dict(zip(distinct, state.get(distinct), strict=True))
        before = []
        for key, value in zip(keys, values, strict=True):
            before.append(now[key])
            now[key] = value
    state.set(latest)
    return before


def interleave(first: pa.RecordBatch, second: pa.RecordBatch | None, order: np.ndarray) -> pa.RecordBatch:
    """Return rows of two batches in an order; the numbers of the second's rows follow those of the first's."""
    chosen = pa.array(order)
    if second is not None:
        arrays = [pa.concat_arrays(pair).take(chosen) for pair in zip(first.columns, second.columns, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=first.schema)
    return first if np.array_equal(order, np.arange(first.num_rows)) else first.take(chosen)


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
