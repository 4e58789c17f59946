"""The columns of changes, as a parser yields them and sinks get them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

PLACE = ("topic", "partition", "offset", "timestamp")
"""The columns with the place and the time of a change's message."""

RECORD_COLUMNS = ("table", "operation", "before", "after", *PLACE, "kept")
"""The columns of a change; the last one names the columns whose values it leaves as they were and does not have."""

CHANGE_COLUMNS = (
    "table STRING, operation STRING, before BINARY, after BINARY, topic STRING, partition INT, offset BIGINT, "
    "timestamp TIMESTAMP, kept ARRAY<STRING>, report BINARY"
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
        ("kept", pa.list_(pa.string())),
        ("report", pa.binary()),
    ]
)


def row_images(changes: pa.RecordBatch) -> tuple[list[Any], list[Any]]:
    """Return the rows of changes before and after them, as JSON; None where a change has none."""
    before, after = (changes.column(name).to_numpy(zero_copy_only=False).tolist() for name in ("before", "after"))
    return before, after


def changes_of(
    messages: pa.RecordBatch,
    tables: Sequence[str],
    operations: Sequence[str],
    befores: Sequence[bytes | None],
    afters: Sequence[bytes | None],
    kept_by_change: Mapping[int, Sequence[str]] | None = None,
) -> pa.RecordBatch:
    """Return changes with the columns of `RECORD_COLUMNS`.

    Args:
        messages: The message of each change, with the columns of `PLACE`.
        tables: The ids of the changes' tables.
        operations: Their operations.
        befores: Their rows before, as JSON.
        afters: Their rows after, as JSON.
        kept_by_change: By the number of a change, its columns whose values stay and are not known.
    """
    texts, rows = (tables, operations), (befores, afters)
    columns = [
        *(pa.array(values, pa.string()) for values in texts),
        *(pa.array(values, pa.binary()) for values in rows),
    ]
    columns += [messages.column(name).cast(CHANGE_SCHEMA.field(name).type) for name in PLACE]
    columns.append(_kept_column(kept_by_change or {}, len(tables)))
    return pa.record_batch(columns, list(RECORD_COLUMNS))


def kept_columns(changes: pa.RecordBatch) -> dict[int, list[str]]:
    """Return, by the number of a change, its columns whose values stay and are not known; most have none."""
    column = changes.column("kept")
    if column.null_count == len(column):
        return {}
    return {index: names for index, names in enumerate(column.to_pylist()) if names}


def _kept_column(kept_by_change: Mapping[int, Sequence[str]], count: int) -> pa.ListArray:
    type_ = CHANGE_SCHEMA.field("kept").type
    return pa.array(map(kept_by_change.get, range(count)), type_) if kept_by_change else pa.nulls(count, type_)


class ChangeColumns:
    """Changes of a batch of messages, as columns."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.tables: list[str] = []
        self._operations: list[str] = []
        self._befores: list[bytes | None] = []
        self._afters: list[bytes | None] = []
        self._kept_by_change: dict[int, Sequence[str]] = {}

    def add(
        self,
        row: int,
        table: str,
        operation: str,
        before: bytes | None,
        after: bytes | None,
        kept_names: Sequence[str] = (),
    ) -> None:
        """Add a change of the message in some row of the batch."""
        if kept_names:
            self._kept_by_change[len(self.rows)] = kept_names
        self.rows.append(row)
        self.tables.append(table)
        self._operations.append(operation)
        self._befores.append(before)
        self._afters.append(after)

    def to_batch(self, messages: pa.RecordBatch) -> pa.RecordBatch:
        """Return the changes with their messages' places."""
        changes = changes_of(messages, self.tables, self._operations, self._befores, self._afters, self._kept_by_change)
        return changes.append_column(CHANGE_SCHEMA.field("report"), pa.nulls(len(self.rows), pa.binary()))


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
