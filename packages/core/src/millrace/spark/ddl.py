"""Write columns as Spark's DDL, which Spark itself parses where a data source has no session."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType


def column_ddl(field: StructField) -> str:
    """Write a column: its name, its type, and whether it may be NULL."""
    return f"{_quote(field.name)} {_type_ddl(field.dataType)}{'' if field.nullable else ' NOT NULL'}"


def _type_ddl(type_: DataType) -> str:
    if isinstance(type_, StructType):
        return f"STRUCT<{', '.join(map(_nested_ddl, type_.fields))}>"
    if isinstance(type_, ArrayType):
        return f"ARRAY<{_type_ddl(type_.elementType)}>"
    if isinstance(type_, MapType):
        return f"MAP<{_type_ddl(type_.keyType)}, {_type_ddl(type_.valueType)}>"
    return type_.simpleString().upper()


def _nested_ddl(field: StructField) -> str:
    return f"{_quote(field.name)}: {_type_ddl(field.dataType)}{'' if field.nullable else ' NOT NULL'}"


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
