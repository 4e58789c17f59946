"""The changes of a table as text, to be kept beside a query's checkpoint.

``{"v":1,"table":"orders","changes":[{"create":"id BIGINT","key":["id"],"at":[0,42]},{"add":"note STRING"}]}``
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from millrace.errors import SchemaError
from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    AlteredColumn,
    CreateTable,
    SchemaChange,
    apply_change,
)
from millrace_catalog.inference.observation import Position
from millrace_catalog.types import Column, Schema, parse_schema

_VERSION = 1


def to_text(table: str, changes: Sequence[SchemaChange]) -> str:
    """A table's changes as text."""
    return json.dumps({"v": _VERSION, "table": table, "changes": list(map(_entry, changes))}, separators=(",", ":"))


def from_text(text: str) -> tuple[str, list[SchemaChange]]:
    """A table and its changes.

    Raises:
        SchemaError: The text is not what `to_text` makes, or is of a newer millrace.
    """
    try:
        state = json.loads(text)
        if state["v"] != _VERSION:
            raise SchemaError(
                f"the state of a schema has version {state['v']}, this millrace knows {_VERSION}: use the one that "
                f"wrote it, or a newer one"
            )
        return state["table"], _changes(state["table"], state["changes"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise SchemaError(f"the state of a schema cannot be read: {type(error).__name__}: {error}") from error


def _entry(change: SchemaChange) -> dict[str, Any]:
    where = {} if change.cause is None else {"at": [change.cause.partition, change.cause.offset]}
    if isinstance(change, CreateTable):
        key = {"key": list(change.primary_key)} if change.primary_key else {}
        return {"create": str(Schema(change.columns)), **key, **where}
    if isinstance(change, AddColumns):
        return {"add": str(Schema(change.columns)), **where}
    return {"alter": str(Schema(tuple(Column(column.name, column.after) for column in change.columns))), **where}


def _changes(table: str, entries: Sequence[dict[str, Any]]) -> list[SchemaChange]:
    changes: list[SchemaChange] = []
    schema = Schema()
    for version, entry in enumerate(entries, 1):
        change = _change(version, table, entry, schema)
        schema = apply_change(schema, change)
        changes.append(change)
    return changes


def _change(version: int, table: str, entry: dict[str, Any], schema: Schema) -> SchemaChange:
    cause = Position(*entry["at"]) if "at" in entry else None
    if "create" in entry:
        columns = parse_schema(entry["create"]).columns
        return CreateTable(version, table, columns, tuple(entry.get("key", ())), cause)
    if "add" in entry:
        return AddColumns(version, table, parse_schema(entry["add"]).columns, cause)
    before = schema.types
    altered = [AlteredColumn(name, before[name], after) for name, after in parse_schema(entry["alter"]).types.items()]
    return AlterColumnTypes(version, table, tuple(altered), cause)
