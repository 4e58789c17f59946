"""The messages of a task that have changed rows, collected for the durable file of its micro-batch.

A repeated attempt reads that file instead of the topic, from which compaction may have removed some of them since.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice

import pyarrow as pa

from millrace.contracts import StateWriter
from millrace.errors import StateError
from millrace.records.messages import Messages
from millrace.source.reader.normalization import Changes
from millrace.source.state_files import new_stream_writer

APPLIED_CHANGES = 50_000
"""Changes that are sorted and written to a store together."""

Change = tuple[bytes, bytes | None]


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
    """

    def __init__(self, column: str) -> None:
        self._schema = pa.schema(
            [*snapshot_schema(column), ("message_key", pa.binary()), ("offset", pa.int64())]  # each has its key
        )
        self.file = tempfile.TemporaryFile(prefix="millrace-changes-")  # noqa: SIM115 - `close` closes it
        self._writer = new_stream_writer(self.file, self._schema)

    def append(self, messages: Messages, changes: Changes) -> None:
        """Add the messages of a batch that have changed rows."""
        if changes.effective:
            effective = [messages.items[index] for index in changes.effective]
            arrays = [
                pa.array(changes.keys, pa.binary()),
                pa.array(changes.stored, pa.binary()),
                pa.array([message.key() for message in effective], pa.binary()),
                pa.array([message.offset() for message in effective], pa.int64()),
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
    changes = _changes(batches, column)
    while latest := dict(islice(changes, APPLIED_CHANGES)):
        writer.put(sorted(latest.items()))


def snapshot_batches(items: Iterator[tuple[bytes, bytes]], column: str) -> Iterator[pa.RecordBatch]:
    """Yield the content of a store as it is written to a snapshot."""
    schema = snapshot_schema(column)
    while some := list(islice(items, 10_000)):
        arrays = [pa.array(each, pa.binary()) for each in zip(*some, strict=True)]
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


def _changes(batches: Iterable[pa.RecordBatch], column: str) -> Iterator[Change]:
    for batch in batches:
        check_layout(batch, column)
        keys, values = (each.to_numpy(zero_copy_only=False).tolist() for each in batch.columns[:2])
        yield from zip(keys, values, strict=True)
