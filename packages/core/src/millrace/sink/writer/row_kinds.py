"""The column of row kinds, in writes by a format of changes."""

from __future__ import annotations

import functools

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import ROW_KINDS
from millrace.errors import MessageError, SchemaError


def check_row_kind_column(schema: pa.Schema, column: str) -> None:
    """Refuse a column of row kinds that is not STRING.

    Raises:
        SchemaError: It is of another type.
    """
    kind = schema.field(column).type
    if kind != pa.string():
        raise SchemaError(
            f"column {column!r} has the row kinds and must be STRING, not {kind}; drop it when all rows are to be "
            f"inserted, or name another one by the option 'changelog.row-kind-column'"
        )


def checked_row_kinds(rows: pa.RecordBatch, column: str) -> pa.StringArray:
    """The row kinds of a batch.

    Raises:
        MessageError: One is NULL or unknown; names the row in the batch, and the value.
    """
    kinds = rows.column(column)
    known = pc.is_in(kinds, _known())
    if not pc.all(known).as_py():
        row = pc.index(known, False).as_py()
        found = kinds[row].as_py()
        raise MessageError(
            f"column {column!r}, row {row}: expected a row kind of {', '.join(ROW_KINDS)}, found "
            f"{'NULL' if found is None else repr(found)}"
        )
    return kinds


@functools.cache
def _known() -> pa.StringArray:
    return pa.array(ROW_KINDS, pa.string())
