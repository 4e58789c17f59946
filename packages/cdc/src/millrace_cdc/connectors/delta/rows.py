"""Encode the final states of keys as Arrow, on the executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.table_changes.row_images import read_rows

DELETED = "__millrace_deleted"
"""The column that says whether a row is gone; then it has its key only."""

_KEPT = "__millrace_kept_"

CHUNK_COLUMNS = "table STRING, rows BINARY"
"""The columns of chunks: a table's id, and rows as a stream of Arrow's IPC format."""

_CHUNK_ROWS = 20_000


class RowEncoder:
    """Encode the rows of tables.

    Args:
        schemas: The columns of tables, by id.
        keys: The columns of their primary keys, as of `key_schema`.
    """

    def __init__(self, schemas: Mapping[str, pa.Schema], keys: Mapping[str, pa.Schema]) -> None:
        self._schemas = schemas
        self._keys = keys

    def __call__(self, table: str, part: int, changes: pa.Table) -> Iterator[pa.RecordBatch]:
        """Yield the final states of the keys of some changes, as chunks.

        Raises:
            ChangeError: A row does not fit.
        """
        schema, key = self._schemas[table], self._keys[table]
        final = final_changes(changes, key)
        deleted = read_rows(final.deletes, "before", pa.schema([schema.field(name) for name in key.names]))
        upserted = _with_flag(read_rows(final.upserts, "after", schema), is_deleted=False)
        kept_names = final.upserts.column("kept").to_pylist()
        for name in sorted({name for names in kept_names if names for name in names} & set(schema.names)):
            flags = pa.array([name in (names or ()) for names in kept_names], pa.bool_())
            upserted = upserted.append_column(kept_flag(schema.get_field_index(name)), flags)
        rows = together([no_rows(schema), _with_flag(deleted, is_deleted=True), upserted])
        for start in range(0, rows.num_rows, _CHUNK_ROWS):
            chunk = _to_bytes(rows.slice(start, _CHUNK_ROWS))
            yield pa.record_batch({"table": [table], "rows": pa.array([chunk], pa.binary())})


def kept_flag(index: int) -> str:
    """Return the name of the column that says whether a row keeps the table's value of the column of some number."""
    return f"{_KEPT}{index}"


def kept_flags(rows: pa.Table) -> list[str]:
    """Return the names of the columns of `kept_flag` that rows have."""
    return [name for name in rows.column_names if name.startswith(_KEPT)]


def no_rows(schema: pa.Schema) -> pa.Table:
    """Return a table without rows, of a table's columns and `DELETED`."""
    return schema.append(pa.field(DELETED, pa.bool_())).empty_table()


def read_rows_of(chunk: bytes) -> pa.Table:
    """Read a chunk of `RowEncoder`: the table's columns, `DELETED`, and where rows keep values those of `kept_flag`."""
    return pa.ipc.open_stream(chunk).read_all()


def together(chunks: list[pa.Table]) -> pa.Table:
    """Return the rows of all chunks of a table, of which only some keep values."""
    rows = pa.concat_tables(chunks, promote_options="default")
    for name in kept_flags(rows):
        rows = rows.set_column(rows.column_names.index(name), name, pc.fill_null(rows.column(name), False))
    return rows


def _with_flag(rows: pa.Table, *, is_deleted: bool) -> pa.Table:
    return rows.append_column(DELETED, pa.array([is_deleted] * rows.num_rows, pa.bool_()))


def _to_bytes(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())
    return bytes(sink.getvalue())
