"""The changes of a table's schema, numbered from 1 on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from millrace_catalog.inference.observation import Position
from millrace_catalog.types import Column, DataType, Schema


@dataclass(frozen=True)
class CreateTable:
    """The table as it is at first.

    Attributes:
        version: The change's number, 1.
        table: The table's id.
        columns: Its columns.
        primary_key: The columns of its primary key, if it has one.
        cause: The message that made it necessary, if it was one.
    """

    version: int
    table: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    cause: Position | None = None


@dataclass(frozen=True)
class AddColumns:
    """New columns, nullable, at the end of the table."""

    version: int
    table: str
    columns: tuple[Column, ...]
    cause: Position | None = None


@dataclass(frozen=True)
class AlteredColumn:
    """A column whose type becomes a wider one."""

    name: str
    before: DataType
    after: DataType


@dataclass(frozen=True)
class AlterColumnTypes:
    """Wider types of columns."""

    version: int
    table: str
    columns: tuple[AlteredColumn, ...]
    cause: Position | None = None


SchemaChange: TypeAlias = CreateTable | AddColumns | AlterColumnTypes


def apply_change(schema: Schema, change: SchemaChange) -> Schema:
    """The columns of a table after a change; before its creation there are none."""
    if isinstance(change, CreateTable):
        return Schema(change.columns)
    if isinstance(change, AddColumns):
        return Schema((*schema.columns, *change.columns))
    types = schema.types | {column.name: column.after for column in change.columns}
    return Schema(tuple(Column(name, type_) for name, type_ in types.items()))
