"""The columns of changes, as a parser yields them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

CHANGE_COLUMNS = (
    "table STRING, operation STRING, before BINARY, after BINARY, topic STRING, partition INT, offset BIGINT, "
    "timestamp TIMESTAMP, report BINARY"
)
"""The columns of a parser's result; in a report, all but the last are NULL."""

CHANGE_SCHEMA = pa.schema(
    [
        ("table", pa.string()),
        ("operation", pa.string()),
        ("before", pa.binary()),
        ("after", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("report", pa.binary()),
    ]
)


class Changes:
    """Changes of a batch of messages, as columns."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.tables: list[str] = []
        self._operations: list[str] = []
        self._befores: list[bytes | None] = []
        self._afters: list[bytes | None] = []

    def add(self, row: int, table: str, operation: str, before: bytes | None, after: bytes | None) -> None:
        """Add a change of the message in some row of the batch."""
        self.rows.append(row)
        self.tables.append(table)
        self._operations.append(operation)
        self._befores.append(before)
        self._afters.append(after)

    def to_batch(self, messages: pa.RecordBatch) -> pa.RecordBatch:
        """Return the changes with their messages' places."""
        columns = [
            pa.array(self.tables, pa.string()),
            pa.array(self._operations, pa.string()),
            pa.array(self._befores, pa.binary()),
            pa.array(self._afters, pa.binary()),
            *(messages.column(name).cast(CHANGE_SCHEMA.field(name).type) for name in CHANGE_SCHEMA.names[4:8]),
            pa.nulls(len(self.rows), pa.binary()),
        ]
        return pa.record_batch(columns, CHANGE_SCHEMA)


def repeated_values(column: pa.Array) -> list[Any]:
    """Return the values of a column, of which most are the same."""
    unique = column.unique()
    return [unique[0].as_py()] * len(column) if len(unique) == 1 else column.to_pylist()


def is_text(column: pa.Array) -> bool:
    """Return whether all values are UTF-8, which the fields that `FastParser` skips are not checked for."""
    try:
        column.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
