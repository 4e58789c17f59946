"""Schema changes of a table, numbered from 1, and their text form for the checkpoint of a query.

``{"v":1,"table":"orders","changes":[{"create":"id BIGINT","key":["id"],"at":[0,42]},{"add":"note STRING"}]}``
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from millrace.errors import SchemaError
from millrace_catalog.inference.observation import Position
from millrace_catalog.types import Column, DataType, Schema, parse_schema
from millrace_catalog.types.identifiers import quote_name

if TYPE_CHECKING:
    from millrace.contracts.query_schemas import SchemaVersion

_VERSION = 1


@dataclass(frozen=True)
class TableCreation:
    """Creation of the table.

    Attributes:
        version: Number of the change, 1.
        table: Id of the table.
        columns: First columns of the table.
        primary_key: Columns of the primary key, if the table has one.
        cause: Position of the message that caused the change, if one did.
    """

    version: int
    table: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    cause: Position | None = None


@dataclass(frozen=True)
class AddColumns:
    """Addition of nullable columns at the end of the table."""

    version: int
    table: str
    columns: tuple[Column, ...]
    cause: Position | None = None


@dataclass(frozen=True)
class AlteredColumn:
    """A column whose type becomes wider."""

    name: str
    before: DataType
    after: DataType


@dataclass(frozen=True)
class AlterColumnTypes:
    """Widening of columns."""

    version: int
    table: str
    columns: tuple[AlteredColumn, ...]
    cause: Position | None = None


SchemaChange: TypeAlias = TableCreation | AddColumns | AlterColumnTypes


def apply_change(schema: Schema, change: SchemaChange) -> Schema:
    """Return the columns of a table after a change; before its creation it has none."""
    if isinstance(change, TableCreation):
        return Schema(change.columns)
    if isinstance(change, AddColumns):
        return Schema((*schema.columns, *change.columns))
    types = schema.types | {column.name: column.after for column in change.columns}
    return Schema(tuple(Column(name, type_) for name, type_ in types.items()))


def describe_change(change: SchemaChange) -> SchemaVersion:
    """Describe a change for people."""
    from millrace.contracts.query_schemas import SchemaVersion

    cause = None if change.cause is None else str(change.cause)
    if isinstance(change, AlterColumnTypes):
        texts = (f"{quote_name(column.name)} {column.before} → {column.after}" for column in change.columns)
        return SchemaVersion(change.version, "widened", tuple(texts), cause)
    kind: Literal["created", "added"] = "created" if isinstance(change, TableCreation) else "added"
    return SchemaVersion(change.version, kind, tuple(map(str, change.columns)), cause)


def format_changes(table: str, changes: Sequence[SchemaChange]) -> str:
    """Write the changes of a table as text."""
    return json.dumps(
        {"v": _VERSION, "table": table, "changes": list(map(_format_entry, changes))}, separators=(",", ":")
    )


def parse_changes(text: str) -> tuple[str, list[SchemaChange]]:
    """Parse the text of `format_changes` into the table's id and its changes.

    Raises:
        SchemaError: The text is malformed, or was written by a newer millrace.
    """
    try:
        state = json.loads(text)
        if state["v"] != _VERSION:
            raise SchemaError(
                f"the state of a schema has version {state['v']}, and this millrace reads version {_VERSION}: use the "
                f"millrace that wrote it, or a newer one"
            )
        return state["table"], _parse_entries(state["table"], state["changes"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise SchemaError(f"the state of a schema cannot be read: {type(error).__name__}: {error}") from error


def _format_entry(change: SchemaChange) -> dict[str, Any]:
    position = {} if change.cause is None else {"at": [change.cause.partition, change.cause.offset]}
    if isinstance(change, TableCreation):
        key = {"key": list(change.primary_key)} if change.primary_key else {}
        return {"create": str(Schema(change.columns)), **key, **position}
    if isinstance(change, AddColumns):
        return {"add": str(Schema(change.columns)), **position}
    return {"alter": str(Schema(tuple(Column(column.name, column.after) for column in change.columns))), **position}


def _parse_entries(table: str, entries: Sequence[dict[str, Any]]) -> list[SchemaChange]:
    changes: list[SchemaChange] = []
    schema = Schema()
    for version, entry in enumerate(entries, 1):
        change = _parse_entry(version, table, entry, schema)
        schema = apply_change(schema, change)
        changes.append(change)
    return changes


def _parse_entry(version: int, table: str, entry: dict[str, Any], schema: Schema) -> SchemaChange:
    cause = Position(*entry["at"]) if "at" in entry else None
    if "create" in entry:
        columns = parse_schema(entry["create"]).columns
        return TableCreation(version, table, columns, tuple(entry.get("key", ())), cause)
    if "add" in entry:
        return AddColumns(version, table, parse_schema(entry["add"]).columns, cause)
    before = schema.types
    altered = [AlteredColumn(name, before[name], after) for name, after in parse_schema(entry["alter"]).types.items()]
    return AlterColumnTypes(version, table, tuple(altered), cause)
