"""Read the column of row kinds in writes by a changelog format."""

from __future__ import annotations

import functools

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import ROW_KINDS
from millrace.errors import MessageError, SchemaError


def check_row_kind_column(schema: pa.Schema, column: str) -> None:
    """Refuse a column of row kinds that is not STRING.

    Raises:
        SchemaError: It has another type.
    """
    kind = schema.field(column).type
    if kind != pa.string():
        raise SchemaError(
            f"column {column!r} has the row kinds and must be STRING, not {kind}; drop it when all rows are to be "
            f"inserted, or name another one by the option 'changelog.row-kind-column'"
        )


def checked_row_kinds(rows: pa.RecordBatch, column: str) -> pa.StringArray:
    """Take the row kinds of a batch.

    Raises:
        MessageError: One is NULL or unknown; names the row in the batch, and the value.
    """
    row_kinds = rows.column(column)
    is_valid = pc.is_in(row_kinds, _valid_row_kinds())
    if not pc.all(is_valid).as_py():
        row = pc.index(is_valid, False).as_py()
        value = row_kinds[row].as_py()
        raise MessageError(
            f"column {column!r}, row {row}: expected a row kind of {', '.join(ROW_KINDS)}, found "
            f"{'NULL' if value is None else repr(value)}"
        )
    return row_kinds


@functools.cache
def _valid_row_kinds() -> pa.StringArray:
    return pa.array(ROW_KINDS, pa.string())
