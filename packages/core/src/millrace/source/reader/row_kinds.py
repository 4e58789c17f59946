"""The column of row kinds, in reads by a format of changes."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import SchemaError


def without_row_kinds(schema: pa.Schema, column: str, format_name: str) -> pa.Schema:
    """What is left of a query's schema beside the column of row kinds.

    Args:
        schema: The query's columns, without metadata.
        column: The name of that column.
        format_name: The format's name, for the message.

    Raises:
        SchemaError: The column is missing, or is not STRING.
    """
    if column not in schema.names:
        raise SchemaError(
            f"format {format_name!r} reads changes of rows, and the schema lacks the column of their kinds (+I, -U, "
            f"+U, -D): add {column} STRING, as in .schema('{column} STRING, id BIGINT, ...'), or name a column of the "
            f"schema by the option 'changelog.row-kind-column'"
        )
    kind = schema.field(column).type
    if kind != pa.string():
        raise SchemaError(
            f"column {column!r} has the row kinds of format {format_name!r} and must be STRING, not {kind}; the option "
            f"'changelog.row-kind-column' names another column"
        )
    return pa.schema([field for field in schema if field.name != column])


def row_kinds(decoded: Decoded) -> pa.StringArray:
    """The kind of each row."""
    if decoded.row_kinds is None:
        return pa.repeat(pa.scalar("+I", pa.string()), decoded.rows.num_rows)
    return decoded.row_kinds
