"""Schemas of Iceberg, as its specification writes them in JSON: from Spark's types, and to Arrow's.

See "Schemas" and "Appendix C: JSON serialization" in https://iceberg.apache.org/spec.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import types as sql

from millrace.contracts import PipelineTable
from millrace.errors import SchemaError
from millrace_catalog.sinks.columns import check_case

IcebergType = str | dict[str, Any]
_SCALARS: dict[type[sql.DataType], str] = {
    sql.BooleanType: "boolean",
    sql.ByteType: "int",
    sql.ShortType: "int",
    sql.IntegerType: "int",
    sql.LongType: "long",
    sql.FloatType: "float",
    sql.DoubleType: "double",
    sql.DateType: "date",
    sql.TimeType: "time",
    sql.TimestampType: "timestamptz",
    sql.TimestampNTZType: "timestamp",
    sql.StringType: "string",
    sql.BinaryType: "binary",
    # Version 2 of tables has no type for them: their JSON
    sql.VariantType: "string",
    sql.NullType: "string",
}
_TO_ARROW: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "string": pa.string(),
    "binary": pa.binary(),
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_PROMOTIONS = {("int", "long"), ("float", "double")}
_NO_IDENTIFIERS = {"float", "double"}


def iceberg_schema(table: PipelineTable) -> dict[str, Any]:
    """Return the schema of a new table; its ids are replaced when it is created.

    Raises:
        SchemaError: A column has a type that Iceberg has not, or names differ only in case.
    """
    check_case(tuple(table.schema.names), f"table {table.id!r}")
    ids = itertools.count(1)
    fields = [_field(column, ids, is_key=column.name in table.primary_key) for column in table.schema]
    keys = [field for field in fields if field["required"]]
    schema: dict[str, Any] = {"type": "struct", "schema-id": 0, "fields": fields}
    # Identifiers are what readers may rely on; Iceberg allows no floating point numbers
    if keys and not any(field["type"] in _NO_IDENTIFIERS for field in keys):
        schema["identifier-field-ids"] = [field["id"] for field in keys]
    return schema


def iceberg_type(type_: sql.DataType, ids: Iterator[int] | None = None) -> IcebergType:
    """Return the type of a value.

    Raises:
        SchemaError: Iceberg has none.
    """
    ids = itertools.count(1) if ids is None else ids
    if isinstance(type_, sql.DecimalType):
        return f"decimal({type_.precision}, {type_.scale})"
    if isinstance(type_, sql.StructType):
        return {"type": "struct", "fields": [_field(field, ids) for field in type_]}
    if isinstance(type_, sql.ArrayType):
        element = next(ids), iceberg_type(type_.elementType, ids)
        return {"type": "list", "element-id": element[0], "element": element[1], "element-required": False}
    if isinstance(type_, sql.MapType):
        key = next(ids), iceberg_type(type_.keyType, ids)
        value = next(ids), iceberg_type(type_.valueType, ids)
        of_key = {"key-id": key[0], "key": key[1]}
        return {"type": "map", **of_key, "value-id": value[0], "value": value[1], "value-required": False}
    for spark_type, name in _SCALARS.items():
        if isinstance(type_, spark_type):
            return name
    raise SchemaError(f"Iceberg has no type for {type_.simpleString()}")


def _field(field: sql.StructField, ids: Iterator[int], *, is_key: bool = False) -> dict[str, Any]:
    return {"id": next(ids), "name": field.name, "required": is_key, "type": iceberg_type(field.dataType, ids)}


def can_promote(before: IcebergType, after: IcebergType) -> bool:
    """Return whether Iceberg lets a column of one type become one of another: see "Schema Evolution" there."""
    if isinstance(before, str) and isinstance(after, str):
        return before == after or (before, after) in _PROMOTIONS or _is_wider_decimal(before, after)
    if isinstance(before, str) or isinstance(after, str) or before["type"] != after["type"]:
        return False
    if before["type"] == "struct":
        types = {field["name"]: field["type"] for field in after["fields"]}
        pairs = [(field["type"], types.get(field["name"])) for field in before["fields"]]
        return all(new is not None and can_promote(old, new) for old, new in pairs)
    if before["type"] == "list":
        return can_promote(before["element"], after["element"])
    return without_ids(before["key"]) == without_ids(after["key"]) and can_promote(before["value"], after["value"])


def widened(schema: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a pipeline as a table can have them: a type stays that cannot become the wanted one.

    Columns that are added cannot be NOT NULL, and those that are there stay so.
    """
    existing = {field["name"]: field for field in schema["fields"]}
    fields = []
    for field in wanted["fields"]:
        current = existing.get(field["name"], {"type": field["type"], "required": False})
        type_ = field["type"] if can_promote(current["type"], field["type"]) else current["type"]
        fields.append({**field, "type": type_, "required": current["required"]})
    return {"type": "struct", "fields": fields}


def _is_wider_decimal(before: IcebergType, after: IcebergType) -> bool:
    narrow, wide = (_DECIMAL.fullmatch(str(type_)) for type_ in (before, after))
    return bool(narrow and wide and narrow[2] == wide[2] and int(narrow[1]) <= int(wide[1]))


def without_ids(type_: IcebergType) -> IcebergType:
    """Return a type without the ids of its fields, to compare it."""
    if isinstance(type_, str):
        return type_.replace(" ", "")
    parts: dict[str, Any] = {"type": type_["type"]}
    for name in ("element", "key", "value"):
        if name in type_:
            parts[name] = without_ids(type_[name])
    if "fields" in type_:
        parts["fields"] = [(field["name"], without_ids(field["type"])) for field in type_["fields"]]
    return parts


def arrow_schema(schema: Mapping[str, Any]) -> pa.Schema:
    """Return a table's columns for Arrow, with the ids of fields that files of Iceberg need.

    Raises:
        SchemaError: A column has a type that pipelines do not write.
    """
    return pa.schema(_arrow_fields(schema))


def _arrow_fields(type_: Mapping[str, Any]) -> list[pa.Field]:
    return [_arrow_field(field["name"], field["id"], field["type"], field["required"]) for field in type_["fields"]]


def _arrow_field(name: str, id_: int, type_: IcebergType, required: bool) -> pa.Field:
    return pa.field(name, _arrow_type(name, type_), not required, {b"PARQUET:field_id": str(id_).encode()})


def _arrow_type(name: str, type_: IcebergType) -> pa.DataType:
    if isinstance(type_, str):
        decimal = _DECIMAL.fullmatch(type_)
        if decimal:
            return pa.decimal128(int(decimal[1]), int(decimal[2]))
        if type_ not in _TO_ARROW:
            raise SchemaError(f"column {name!r} has Iceberg's type {type_}, which pipelines do not write")
        return _TO_ARROW[type_]
    if type_["type"] == "struct":
        return pa.struct(_arrow_fields(type_))
    if type_["type"] == "list":
        return pa.list_(_arrow_field("element", type_["element-id"], type_["element"], type_["element-required"]))
    key = _arrow_field("key", type_["key-id"], type_["key"], True)
    return pa.map_(key, _arrow_field("value", type_["value-id"], type_["value"], type_["value-required"]))
