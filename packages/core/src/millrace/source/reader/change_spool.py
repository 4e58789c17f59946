"""The messages of a task that have changed rows, collected for the durable file of its micro-batch.

A repeated attempt reads that file instead of the topic, from which compaction may have removed some of them since.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Message

from millrace.contracts import StateWriter
from millrace.errors import StateError
from millrace.records.messages import Messages, with_schema_header
from millrace.source.reader.normalization import NormalizedChanges
from millrace.source.state_files import new_stream_writer

APPLIED_BYTES = 32 << 20
"""Bytes of changes that are sorted and written to a store together."""

PUT_CHANGES = 10_000
"""Changes that become Python objects at a time."""


def snapshot_schema(column: str) -> pa.Schema:
    """Return the schema of snapshots.

    Args:
        column: The name of the column that holds what is kept of rows (`EventReader.column`).
    """
    return pa.schema([("key", pa.binary()), (column, pa.binary())])


class ChangeSpool:
    """Collects changes in a temporary file.

    Args:
        column: The name of the column that holds what is kept of rows.
        key_header: The header that may tell the schema of a key, and is kept before it; None if there is none.
    """

    def __init__(self, column: str, key_header: str | None = None) -> None:
        self._key_header = key_header
        self._schema = pa.schema(
            [*snapshot_schema(column), ("message_key", pa.binary()), ("offset", pa.int64())]  # each has its key
        )
        self.file = tempfile.TemporaryFile(prefix="millrace-changes-")  # noqa: SIM115 - `close` closes it
        self._writer = new_stream_writer(self.file, self._schema)

    def append(self, messages: Messages, changes: NormalizedChanges) -> None:
        """Add the messages of a batch that have changed rows."""
        if changes.effective:
            effective = [messages.items[index] for index in changes.effective]
            keys: Sequence[bytes | None] = list(map(Message.key, effective))
            if self._key_header is not None:
                keys = with_schema_header(keys, effective, self._key_header)
            arrays = [
                pa.array(changes.keys, pa.binary()),
                pa.array(changes.stored, pa.binary()),
                pa.array(keys, pa.binary()),
                pa.array(list(map(Message.offset, effective)), pa.int64()),
            ]
            self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def finish(self) -> None:
        """Complete the file."""
        self._writer.close()

    def close(self) -> None:
        """Delete the file."""
        self.file.close()


def apply_changes(batches: Iterable[pa.RecordBatch], column: str, writer: StateWriter) -> None:
    """Write the changes of a file, or a snapshot, to a store."""
    some, size = list[pa.RecordBatch](), 0
    for batch in batches:
        check_layout(batch, column)
        some.append(batch.select([0, 1]))
        size += batch.nbytes
        if size >= APPLIED_BYTES:
            _apply(some, writer)
            some, size = [], 0
    if some:
        _apply(some, writer)


def _apply(changes: list[pa.RecordBatch], writer: StateWriter) -> None:
    """Write changes to a store, the last of each key, by ascending key: neighbours share the pages of a tree."""
    rows = pa.Table.from_batches(changes).combine_chunks()
    order = latest_by_key(rows.column(0))
    for batch in (rows if order is None else rows.take(order)).to_batches(PUT_CHANGES):
        keys, stored = (column.to_numpy(zero_copy_only=False).tolist() for column in batch.columns)
        writer.put(list(zip(keys, stored, strict=True)))


def latest_by_key(keys: pa.ChunkedArray) -> pa.Array | None:
    """Return the places of the last occurrence of each key, by ascending key; None if that is all, as it stands."""
    order = pc.sort_indices(keys)
    in_order = keys.take(order)
    is_last = pc.not_equal(in_order.slice(0, len(keys) - 1), in_order.slice(1))
    places = order.filter(pa.chunked_array([is_last.combine_chunks(), pa.array([True])]).combine_chunks())
    return None if np.array_equal(places.to_numpy(), np.arange(len(keys))) else places


def snapshot_batches(items: Iterator[tuple[bytes, bytes]], column: str) -> Iterator[pa.RecordBatch]:
    """Yield the content of a store as it is written to a snapshot."""
    schema = snapshot_schema(column)
    while some := list(islice(items, 10_000)):
        arrays = [pa.array(values, pa.binary()) for values in zip(*some, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def check_layout(batch: pa.RecordBatch, column: str) -> None:
    """Check that a file keeps rows in the same way.

    Raises:
        StateError: It does not, since the query has read metadata and does not now, or the reverse.
    """
    if batch.schema.names[1] != column:
        raise StateError(
            "the state of the table was written by a query with other metadata columns: give option "
            "'metadata.columns' as it was, or start the query with a new checkpoint"
        )
