"""Messages of sources that produce changes themselves: JSON with the rows and, if the source has them, their types."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from decimal import InvalidOperation
from typing import Any, Literal

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import RowImage, TableChange, widen_rows
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import DataType, parse_schema, with_nullability
from millrace_cdc.rows import exact_json

FORMAT = "typed-rows"
"""The name of the format, among those of a parser."""


def encode_change(
    table: str,
    operation: Literal["c", "u", "d"],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    *,
    columns: str | None = None,
    primary_key: Sequence[str] | None = None,
) -> bytes:
    """Encode a change as a message.

    Args:
        table: Id of the table.
        operation: ``c`` for an insertion, ``u`` for an update, ``d`` for a deletion.
        before: The row before, as JSON has it.
        after: The row after.
        columns: The columns of the table, as SQL; None to infer them from the rows.
        primary_key: The names of the columns of its primary key; None where it is not known.
    """
    return exact_json.encode([table, operation, before, after, columns, primary_key])


class TypedRowReader:
    """Read the messages of `encode_change`.

    Args:
        topic: Name of the topic; tables are named by the messages.
        options: Options by which types are inferred.
    """

    def __init__(self, topic: str, options: FormatOptions) -> None:
        self._objects = JsonObjectColumns(options)

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the change of a message.

        Raises:
            MalformedMessageError: It is no change of a row.
        """
        if payload is None:
            return SkipReason.TOMBSTONE
        table, operation, before, after, columns, key = _parts(payload)
        rows: tuple[tuple[RowImage | None, RowImage | None], ...] = ((before, after),)
        return TableChange(table, operation, rows, None if key is None else tuple(key), {"columns": columns})

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Return the columns that the message names, or infer them."""
        named = change.message["columns"]
        if named is not None:
            return _columns(named)
        rows = [row for row in change.rows[0] if row is not None]
        return widen_rows(self._objects.columns_of(row)[0] for row in rows)


def _parts(payload: bytes) -> tuple[str, Any, Any, Any, str | None, Sequence[str] | None]:
    try:
        table, operation, before, after, columns, key = exact_json.decode(payload)
    except (ValueError, InvalidOperation) as error:
        raise MalformedMessageError(f"a row is no JSON object: {error}") from None
    rows = {"c": (after,), "u": (after, before or {}), "d": (before,)}.get(operation)
    if rows is None:
        raise MalformedMessageError(f"operation is {operation!r}; expected c, u or d")
    if not isinstance(table, str):
        raise MalformedMessageError(f"table is {table!r}; expected its id")
    if not all(isinstance(row, dict) for row in rows):
        raise MalformedMessageError(f"operation {operation!r} lacks a row, or it is no JSON object")
    return table, operation, before, after, columns, key


@functools.lru_cache(maxsize=4096)
def _columns(text: str) -> dict[str, DataType]:
    return {column.name: with_nullability(column.type, True) for column in parse_schema(text)}
