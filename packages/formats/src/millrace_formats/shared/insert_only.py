"""Check that rows are insertions, for formats that write no changes."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MessageError


def check_insertions(
    format_name: str, schema: pa.Schema, rows: pa.RecordBatch, row_kinds: pa.StringArray | None
) -> None:
    """Refuse a batch that holds changes other than insertions, or a NULL in a NOT NULL column.

    Args:
        format_name: The format's name, for the message.
        schema: The encoder's columns.
        rows: The batch.
        row_kinds: The batch's row kinds, or None.

    Raises:
        MessageError: Names the row, and the column or the row kind.
    """
    if row_kinds is not None:
        index = pc.index(pc.fill_null(pc.equal(row_kinds, "+I"), False), False).as_py()
        if index >= 0:
            raise MessageError(
                f"row {index} has the row kind {row_kinds[index].as_py()}: format {format_name} writes insertions (+I) "
                "only; use a changelog format such as debezium-json"
            )
    for field, column in zip(schema, rows.columns, strict=True):
        if not field.nullable and column.null_count:
            index = pc.index(column.is_null(), True).as_py()
            raise MessageError(f"column {field.name}, row {index}: NULL in a NOT NULL column")
