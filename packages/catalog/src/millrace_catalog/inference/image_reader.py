"""Reader of changes that are JSON objects with rows and their table's name, where a tool's description says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millrace.change_dialects import ChangeDialect, Operation, SkipReason
from millrace.errors import MalformedMessageError
from millrace.table_names import join_names
from millrace_catalog.inference.json_payload import describe, object_field, parse_object
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import (
    CHANGE_OPERATIONS,
    Observation,
    RowImage,
    TableChange,
    widen_rows,
)
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import DataType

RowImages = tuple[RowImage | None, RowImage | None]
"""The rows before and after a change."""


class DialectReader:
    """Read the changes of a dialect. The table is named by the message, or else after the topic.

    Args:
        dialect: The dialect.
        topic: Name of the topic.
        options: Options of the format.
    """

    def __init__(self, dialect: ChangeDialect, topic: str, options: FormatOptions | None = None) -> None:
        self.format = dialect.format
        self.options = options or FormatOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._dialect = dialect
        self._topic = topic
        self._objects = JsonObjectColumns(self.options)

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        change = self.parse(payload)
        if isinstance(change, SkipReason) or not change.rows:
            return None
        return Observation(change.table, self.columns_of(change), change.primary_key)

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the change of a message; the reason to skip it when it is none.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """
        message = parse_object(payload)
        if message is None:
            return SkipReason.TOMBSTONE
        reason = self._dialect.skip_reason(message)
        if reason is not None:
            return reason
        operation, name = self._dialect.operation(message)
        rows = () if operation is Operation.TRUNCATE else (row_images(self._dialect, operation, name, message),)
        table = table_name(self._dialect, message, self._topic)
        return TableChange(table, CHANGE_OPERATIONS[operation], rows, primary_key(self._dialect, message), message)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's rows."""
        rows = [row for pair in change.rows for row in pair if row is not None]
        return widen_rows(self._objects.columns_of(row)[0] for row in rows)


def row_images(dialect: ChangeDialect, operation: Operation, name: str, message: Mapping[str, Any]) -> RowImages:
    """Return the rows before and after a message's change; None where the operation has none.

    An update may lack its old row.

    Raises:
        MalformedMessageError: A row that the operation needs is missing.
    """
    if dialect.lacks_old_row(operation, message):
        return None, _row(dialect, dialect.after, operation, name, message)
    if dialect.old_rows == "changed":
        data = _row(dialect, dialect.after, operation, name, message)
        if operation is Operation.INSERT:
            return None, data
        if operation is Operation.DELETE:
            return data, None
        return data | _row(dialect, dialect.before, operation, name, message), data
    before = None if operation is Operation.INSERT else _row(dialect, dialect.before, operation, name, message)
    after = None if operation is Operation.DELETE else _row(dialect, dialect.after, operation, name, message)
    return before, after


def table_name(dialect: ChangeDialect, message: Mapping[str, Any], topic: str) -> str:
    """Return the id of a message's table: the names that the message has, or else that of the topic."""
    names = [name for name in (_name_at(message, path) for path in dialect.table_fields) if name]
    # A single field has the whole id, as GoldenGate's
    return (names[0] if len(dialect.table_fields) == 1 else join_names(names)) if names else topic


def primary_key(dialect: ChangeDialect, message: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the columns of the primary key that a message names; None where it names none.

    Raises:
        MalformedMessageError: It names something else.
    """
    names = None if dialect.key_field is None else message.get(dialect.key_field)
    if not names:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise MalformedMessageError(f"expected names of columns, found {describe(names)}", dialect.key_field or "")
    return tuple(names)


def _row(dialect: ChangeDialect, field: str, operation: Operation, name: str, message: Mapping[str, Any]) -> RowImage:
    value = message.get(field)
    advice = dialect.row_advice(message) if isinstance(value, str) else ""
    if advice:
        raise MalformedMessageError(f"expected an object, found text: {advice}", field)
    row = object_field(message, field)
    # GoldenGate writes an object without columns where it does not know the old row
    if row is None or (not row and field == dialect.before and dialect.old_rows == "whole"):
        raise dialect.missing_row(field, operation, name, message)
    return row


def _name_at(message: Mapping[str, Any], path: tuple[str, ...]) -> str | None:
    *outer, field = path
    for name in outer:
        nested = object_field(message, name)
        if nested is None:
            return None
        message = nested
    value = message.get(field)
    return value if isinstance(value, str) else None
