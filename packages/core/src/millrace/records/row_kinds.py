"""The column of row kinds (``+I``, ``-U``, ``+U``, ``-D``) in reads and writes of changelogs."""

from __future__ import annotations

import functools

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import ROW_KINDS, Decoded
from millrace.errors import MessageError, SchemaError

INSERT = "+I"
UPDATE_BEFORE = "-U"


def without_row_kind_column(schema: pa.Schema, column: str, reader: str) -> pa.Schema:
    """Return a read's schema without the column of row kinds.

    Args:
        schema: The query's columns, without metadata.
        column: The name of that column.
        reader: What reads changes of rows, for the message.

    Raises:
        SchemaError: The column is missing, or is not STRING.
    """
    if column not in schema.names:
        raise SchemaError(
            f"{reader} reads changes of rows, and the schema lacks the column of their kinds (+I, -U, "
            f"+U, -D): add {column} STRING, as in .schema('{column} STRING, id BIGINT, ...'), or name a column of the "
            f"schema by the option 'changelog.row-kind-column'"
        )
    type_ = schema.field(column).type
    if type_ != pa.string():
        raise SchemaError(
            f"column {column!r} has the row kinds of {reader} and must be STRING, not {type_}; the "
            f"option 'changelog.row-kind-column' names another column"
        )
    return pa.schema([field for field in schema if field.name != column])


def decoded_row_kinds(decoded: Decoded) -> pa.StringArray:
    """Return the kind of each row that was read; without kinds all rows are inserts."""
    if decoded.row_kinds is None:
        return pa.repeat(pa.scalar(INSERT, pa.string()), decoded.rows.num_rows)
    return decoded.row_kinds


def check_row_kind_column(schema: pa.Schema, column: str) -> None:
    """Refuse a column of row kinds in a write that is not STRING.

    Raises:
        SchemaError: It is of another type.
    """
    type_ = schema.field(column).type
    if type_ != pa.string():
        raise SchemaError(
            f"column {column!r} has the row kinds and must be STRING, not {type_}; drop it when all rows are to be "
            f"inserted, or name another one by the option 'changelog.row-kind-column'"
        )


def checked_row_kinds(rows: pa.RecordBatch, column: str) -> pa.StringArray:
    """Return the row kinds of a batch to write.

    Raises:
        MessageError: One is NULL or unknown; names the row in the batch, and the value.
    """
    kinds = rows.column(column)
    is_known = pc.is_in(kinds, _known_row_kinds())
    if not pc.all(is_known).as_py():
        row = pc.index(is_known, False).as_py()
        kind = kinds[row].as_py()
        raise MessageError(
            f"column {column!r}, row {row}: expected a row kind of {', '.join(ROW_KINDS)}, found "
            f"{'NULL' if kind is None else repr(kind)}"
        )
    return kinds


def is_delete(kinds: pa.StringArray) -> pa.BooleanArray:
    """Tell which rows are no longer in their table: those deleted, and the old rows of updates."""
    return pc.is_in(kinds, _kinds_of_deletes())


@functools.cache
def _kinds_of_deletes() -> pa.StringArray:
    return pa.array([UPDATE_BEFORE, "-D"], pa.string())


@functools.cache
def _known_row_kinds() -> pa.StringArray:
    return pa.array(ROW_KINDS, pa.string())
