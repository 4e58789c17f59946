"""Encode the last states of keys as Arrow, on the executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import TableFailedError
from millrace_cdc.connectors.final_states import FinalStates
from millrace_cdc.rows.arrow_rows import JsonColumns, RowError

DELETED = "__millrace_deleted"
"""The column that says whether a row is gone; then it has its key only."""

_KEPT = "__millrace_kept_"

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
        rows: Iterator[_Row] = chain(
            (_Row(key, True) for key in states.deleted(table)),
            (_Row(state.row, False, state.kept) for state in states.rows(table) if state.row is not None),
        )
        while chunk := _take(rows):
            yield pa.record_batch(
                {"table": pa.array([table], pa.string()), "rows": pa.array([encoder.encode(chunk)], pa.binary())}
            )


def kept_flag(index: int) -> str:
    """Return the name of the column that says whether a row keeps the table's value of the column of some number."""
    return f"{_KEPT}{index}"


def kept_flags(rows: pa.Table) -> list[str]:
    """Return the names of the columns of `kept_flag` that rows have."""
    return [name for name in rows.column_names if name.startswith(_KEPT)]


def no_rows(schema: pa.Schema) -> pa.Table:
    """Return a table without rows, of a table's columns and `DELETED`."""
    return schema.append(pa.field(DELETED, pa.bool_())).empty_table()


def read_rows(rows: bytes) -> pa.Table:
    """Read a chunk of `write_rows`: the table's columns, `DELETED`, and where rows keep values those of `kept_flag`."""
    return pa.ipc.open_stream(rows).read_all()


def together(chunks: list[pa.Table]) -> pa.Table:
    """Return the rows of all chunks of a table, of which only some keep values."""
    rows = pa.concat_tables(chunks, promote_options="default")
    for name in kept_flags(rows):
        rows = rows.set_column(rows.column_names.index(name), name, pc.fill_null(rows.column(name), False))
    return rows


class _Encoder:
    def __init__(self, table: str, schema: pa.Schema) -> None:
        self._table = table
        self._columns = JsonColumns(schema)

    def encode(self, rows: list[_Row]) -> bytes:
        try:
            found = self._columns.read([each.row for each in rows])
        except RowError as error:
            raise TableFailedError(self._table, f"Delta Lake cannot hold a row: {error.reason}") from None
        table = found.append_column(DELETED, pa.array([each.is_deleted for each in rows], pa.bool_()))
        for name in sorted({name for each in rows for name in each.kept if name in found.column_names}):
            flags = pa.array([name in each.kept for each in rows], pa.bool_())
            table = table.append_column(kept_flag(found.column_names.index(name)), flags)
        table = table.combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return sink.getvalue().to_pybytes()


class _Row(NamedTuple):
    row: bytes
    is_deleted: bool
    kept: tuple[str, ...] = ()


def _take(rows: Iterator[_Row]) -> list[_Row]:
    return [row for row, _ in zip(rows, range(_CHUNK_ROWS), strict=False)]
