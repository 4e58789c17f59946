"""Read change logs by a primary key, so that they may repeat events, or lack old rows and their own beginning.

See ``table.exec.source.cdc-events-duplicate`` in Flink's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.records.key_bytes import key_bytes
from millrace.records.messages import Messages
from millrace.records.row_kinds import INSERT, UPDATE_BEFORE
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.normalization import RowEvents, with_row_kinds
from millrace.source.reader.record_batch_builder import BuiltBatch
from millrace.source.reader.row_codec import RowCodec
from millrace.source.reader.upsert_messages import unreadable

_NEW = pa.array([INSERT, "+U"], pa.string())


class ChangeLogReader:
    """Read the new and the deleted rows of changes.

    An old row (``-U``) says nothing that the state does not know, unless its update changes the key: then it deletes
    the row of the old one.

    Args:
        build: Builds the rows of messages.
        schema: The query's columns.
        primary_key: Those of the key.
        row_kind_column: That of row kinds.
        partition: The partition of the messages.
    """

    column = RowCodec.column

    def __init__(
        self,
        build: Callable[[Messages], BuiltBatch],
        schema: pa.Schema,
        primary_key: tuple[str, ...],
        row_kind_column: str,
        partition: TopicPartition,
    ) -> None:
        self._build = build
        self._schema = schema
        self._primary_key = list(primary_key)
        self._row_kind_column = row_kind_column
        self._partition = partition
        self._columns = [name for name in schema.names if name != row_kind_column]
        self._codec = RowCodec(pa.schema([schema.field(name) for name in self._columns]))

    def read(self, messages: Messages) -> RowEvents:
        """Return the events of messages."""
        built = self._build(messages)
        rows, index, malformed = self._with_keys(messages, built)
        keys = key_bytes(rows.select(self._primary_key))
        kinds = rows.column(self._row_kind_column)
        is_new = pc.is_in(kinds, _NEW).to_numpy(zero_copy_only=False)
        is_event = _is_event(kinds, keys, index)
        row = np.where(is_new, is_new.cumsum() - 1, -1)[is_event]
        if not is_event.all():
            keys, index = list(compress(keys, is_event.tolist())), index[is_event]
        new = rows if is_new.all() else rows.filter(pa.array(is_new))
        return RowEvents(self._with_kinds(new), keys, row.tolist(), index.tolist(), malformed)

    def to_stored(self, messages: Messages, events: RowEvents) -> list[bytes | None]:
        """Return what is kept of the rows of events."""
        rows = self._codec.to_stored(events.batch.select(self._columns))
        return rows if len(rows) == len(events.row) else [None if row < 0 else rows[row] for row in events.row]  # type: ignore[return-value]  # a list of bytes is not changed

    def old_rows(self, items: Sequence[Message], stored: Sequence[bytes], changed_by: Sequence[int]) -> pa.RecordBatch:
        """Return rows that were kept."""
        try:
            rows = self._codec.from_stored(stored)
        except ValueError as error:
            raise unreadable(self._partition, str(error)) from error
        return self._with_kinds(rows)

    def replay(self, batch: pa.RecordBatch) -> tuple[Sequence[Message], RowEvents, list[bytes | None]]:
        """Return the events that a file of changes has."""
        keys, stored = (column.to_pylist() for column in batch.columns[:2])
        rows = self.old_rows((), [encoded for encoded in stored if encoded is not None], ())
        is_new = batch.column(1).is_valid().to_numpy(zero_copy_only=False)
        row = np.where(is_new, is_new.cumsum() - 1, -1).tolist()
        return (), RowEvents(rows, keys, row, [-1] * len(keys), ()), stored

    def _with_keys(
        self, messages: Messages, built: BuiltBatch
    ) -> tuple[pa.RecordBatch, np.ndarray, tuple[MalformedRecord, ...]]:
        """Return the rows of messages all rows of which have a key, the indices of their messages, and the others."""
        rows, index = built.batch, built.message_index
        index = np.arange(rows.num_rows) if index is None else index
        has_key = np.ones(rows.num_rows, bool)
        for name in self._primary_key:
            if rows.column(name).null_count:
                has_key &= rows.column(name).is_valid().to_numpy(zero_copy_only=False)
        if has_key.all():
            return rows, index, built.malformed
        rejected = np.unique(index[~has_key])
        is_kept = ~np.isin(index, rejected)
        reason = f"the primary key ({', '.join(self._primary_key)}) has a NULL or is missing"
        malformed = [
            *built.malformed,
            *(MalformedRecord(messages.items[at], reason, "") for at in rejected.tolist()),
        ]
        malformed.sort(key=lambda record: record.message.offset())
        return rows.filter(pa.array(is_kept)), index[is_kept], tuple(malformed)

    def _with_kinds(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows as insertions."""
        kinds = pa.repeat(pa.scalar(INSERT, pa.string()), rows.num_rows)
        if self._row_kind_column in rows.schema.names:
            return with_row_kinds(rows, self._row_kind_column, kinds)
        arrays = [kinds if name == self._row_kind_column else rows.column(name) for name in self._schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _is_event(kinds: pa.StringArray, keys: list[bytes], index: np.ndarray) -> np.ndarray:
    """Return which rows are events: all but old ones that are followed by the new one of their key."""
    is_event = np.ones(len(keys), bool)
    old = np.flatnonzero(pc.equal(kinds, UPDATE_BEFORE).to_numpy(zero_copy_only=False))
    for at in old[old < len(keys) - 1].tolist():
        is_event[at] = keys[at] != keys[at + 1] or index[at] != index[at + 1]
    return is_event
