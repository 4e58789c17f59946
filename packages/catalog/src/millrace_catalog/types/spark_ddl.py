"""Schemas as Spark's DDL, with the types of `millrace_catalog.types.spark` but without importing Spark."""

from __future__ import annotations

from millrace_catalog.types.identifiers import backquote
from millrace_catalog.types.model import ArrayType, Column, DataType, Kind, MapType, RowType, ScalarType, Schema

_NAMES: dict[Kind, str] = {
    "CHAR": "STRING",
    "VARCHAR": "STRING",
    "VARBINARY": "BINARY",
    "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMP_TZ": "TIMESTAMP",
    "NULL": "VOID",
}
_MAX_PRECISION = 6


def spark_ddl(schema: Schema) -> str:
    """Write a schema as ``.schema(...)`` takes it."""
    return ", ".join(f"{backquote(column.name)} {_type(column.type)}{_not_null(column.type)}" for column in schema)


def _type(type_: DataType) -> str:
    if isinstance(type_, ArrayType):
        return f"ARRAY<{_type(type_.element)}>"
    if isinstance(type_, MapType):
        return f"MAP<{_type(type_.key)}, {_type(type_.value)}>"
    if isinstance(type_, RowType):
        return f"STRUCT<{', '.join(map(_field, type_.fields))}>"
    return _scalar(type_)


def _scalar(type_: ScalarType) -> str:
    if type_.kind == "DECIMAL":
        return f"DECIMAL({type_.size}, {type_.scale})"
    if type_.kind == "TIME":
        return f"TIME({min(type_.size or 0, _MAX_PRECISION)})"
    return _NAMES.get(type_.kind, type_.kind)


def _field(column: Column) -> str:
    return f"{backquote(column.name)}: {_type(column.type)}{_not_null(column.type)}"


def _not_null(type_: DataType) -> str:
    return "" if type_.nullable else " NOT NULL"
