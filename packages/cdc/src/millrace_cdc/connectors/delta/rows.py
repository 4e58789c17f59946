"""Encode the last states of keys as Arrow, on the executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import pyarrow as pa

from millrace.errors import TableFailedError
from millrace_cdc.connectors.final_states import FinalStates
from millrace_cdc.rows.arrow_rows import JsonColumns, RowError

DELETED = "__millrace_deleted"
"""The column that says whether a row is gone; then it has its key only."""

CHUNK_COLUMNS = "table STRING, rows BINARY"
"""The columns of chunks: a table's id, and rows as a stream of Arrow's IPC format."""

_CHUNK_ROWS = 20_000


def write_rows(states: FinalStates, schemas: Mapping[str, pa.Schema]) -> Iterator[pa.RecordBatch]:
    """Yield the chunks of some keys.

    Args:
        states: The states.
        schemas: The columns of tables, by id.

    Raises:
        TableFailedError: A value is none of its column's type.
    """
    for table in states.tables():
        encoder = _Encoder(table, schemas[table])
        rows: Iterator[tuple[bytes, bool]] = chain(
            ((key, True) for key in states.deleted(table)),
            ((state.row, False) for state in states.rows(table) if state.row is not None),
        )
        while chunk := _take(rows):
            yield pa.record_batch(
                {"table": pa.array([table], pa.string()), "rows": pa.array([encoder.encode(chunk)], pa.binary())}
            )


def no_rows(schema: pa.Schema) -> pa.Table:
    """Return a table without rows, of a table's columns and `DELETED`."""
    return schema.append(pa.field(DELETED, pa.bool_())).empty_table()


def read_rows(rows: bytes) -> pa.Table:
    """Read a chunk of `write_rows`: the table's columns, and `DELETED`."""
    return pa.ipc.open_stream(rows).read_all()


class _Encoder:
    def __init__(self, table: str, schema: pa.Schema) -> None:
        self._table = table
        self._columns = JsonColumns(schema)

    def encode(self, rows: list[tuple[bytes, bool]]) -> bytes:
        try:
            found = self._columns.read([row for row, _ in rows])
        except RowError as error:
            raise TableFailedError(self._table, f"Delta Lake cannot hold a row: {error.reason}") from None
        is_deleted = pa.array([is_deleted for _, is_deleted in rows], pa.bool_())
        table = found.append_column(DELETED, is_deleted).combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return sink.getvalue().to_pybytes()


def _take(rows: Iterator[tuple[bytes, bool]]) -> list[tuple[bytes, bool]]:
    return [row for row, _ in zip(rows, range(_CHUNK_ROWS), strict=False)]
