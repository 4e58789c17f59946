"""Derive the Avro schema of columns as Flink does, and write it as JSON.

The mapping is that of Flink's ``AvroSchemaConverter``, the record's name included, so that both systems register one
schema for one table: https://nightlies.apache.org/flink/flink-docs-stable/docs/connectors/table/formats/avro/.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.avro.schema.model import (
    NO_DEFAULT,
    NULL,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroType,
    Fixed,
    LogicalType,
    Primitive,
    Record,
    RecordField,
    Union,
    describe_type,
)
from millrace_formats.avro.schema.parser import is_name
from millrace_formats.shared.sql_types import check_schema, nested_problem, sql_name

RECORD_NAME = "org.apache.flink.avro.generated.record"

_PRIMITIVES = {
    pa.bool_(): Primitive("boolean"),
    pa.int8(): Primitive("int"),
    pa.int16(): Primitive("int"),
    pa.int32(): Primitive("int"),
    pa.int64(): Primitive("long"),
    pa.float32(): Primitive("float"),
    pa.float64(): Primitive("double"),
    pa.string(): Primitive("string"),
    pa.binary(): Primitive("bytes"),
    pa.date32(): Primitive("int", LogicalType("date")),
}


def check_columns(format_name: str, schema: pa.Schema) -> None:
    """Refuse columns that have no Avro schema.

    Raises:
        SchemaError: Names every such column, with its type.
    """
    check_schema(format_name, schema, _column_problem)


def derive_record(fields: list[pa.Field], legacy: bool) -> Record:
    """Derive the record of some columns.

    Args:
        fields: Columns that have passed `check_columns`.
        legacy: Whether TIMESTAMP and TIMESTAMP_NTZ are both timestamp-millis, Flink's default; else TIMESTAMP is
            timestamp-micros and TIMESTAMP_NTZ local-timestamp-micros.
    """
    return _Derivation(legacy).record(fields, RECORD_NAME)


def derived_timestamp(type_: pa.TimestampType, legacy: bool) -> LogicalType:
    """Return the logical type that is derived from a timestamp; for ``legacy`` see `derive_record`."""
    if legacy:
        return LogicalType("timestamp-millis")
    return LogicalType("local-timestamp-micros" if type_.tz is None else "timestamp-micros")


def render_schema(type_: AvroType) -> str:
    """Write a derived schema as JSON, its attributes in the order of Avro's Java library."""
    return json.dumps(_render(type_, ""), separators=(",", ":"))


class _Derivation:
    """Derive the types of one schema, and give each record a name of its own."""

    def __init__(self, legacy: bool) -> None:
        self._legacy = legacy
        self._names: set[str] = set()

    def record(self, fields: list[pa.Field], name: str) -> Record:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return Record(name, [self._field(field, f"{name}_{field.name}") for field in fields])

    def _field(self, field: pa.Field, name: str) -> RecordField:
        return RecordField(field.name, self._nullable_type(field, name), None if field.nullable else NO_DEFAULT)

    def _nullable_type(self, field: pa.Field, name: str) -> AvroType:
        type_ = self._type(field.type, name)
        return Union((NULL, type_)) if field.nullable else type_

    def _type(self, type_: pa.DataType, name: str) -> AvroType:
        if pt.is_struct(type_):
            return self.record([type_.field(i) for i in range(type_.num_fields)], name)
        if pt.is_list(type_):
            return AvroArray(self._nullable_type(type_.value_field, name))
        if pt.is_map(type_):
            return AvroMap(self._nullable_type(type_.item_field, name))
        if pt.is_decimal128(type_):
            return Primitive("bytes", LogicalType("decimal", type_.precision, type_.scale))
        if pt.is_timestamp(type_):
            return Primitive("long", derived_timestamp(type_, self._legacy))
        # Flink writes times with milliseconds whatever timestamps have
        return Primitive("int", LogicalType("time-millis")) if pt.is_time64(type_) else _PRIMITIVES[type_]


def _column_problem(path: str, type_: pa.DataType) -> str | None:
    return _name_problem(path, path) or nested_problem(path, type_) or _type_problem(path, type_)


def _name_problem(path: str, name: str) -> str | None:
    return (
        None if is_name(name) else f"column {path} has a name that is not valid in Avro: use letters, digits and _ only"
    )


def _type_problem(path: str, type_: pa.DataType) -> str | None:
    if pt.is_struct(type_):
        if not type_.num_fields:
            return f"column {path} is STRUCT<>, which has no fields"
        fields = [(type_.field(i).name, type_.field(i).type) for i in range(type_.num_fields)]
        problems = (
            _name_problem(f"{path}.{name}", name) or _type_problem(f"{path}.{name}", inner) for name, inner in fields
        )
        return next(filter(None, problems), None)
    if pt.is_map(type_):
        if type_.key_type != pa.string():
            return f"column {path} is {sql_name(type_)}, whose keys are not STRING"
        return _type_problem(f"{path}.value", type_.item_type)
    return _type_problem(f"{path}.element", type_.value_type) if pt.is_list(type_) else None


def _render(type_: AvroType, namespace: str) -> Any:
    if isinstance(type_, Record):
        record_namespace, _, name = type_.name.rpartition(".")
        head = {
            "type": "record",
            "name": name,
            **({"namespace": record_namespace} if record_namespace != namespace else {}),
        }
        return {**head, "fields": [_render_field(field, record_namespace) for field in type_.fields]}
    if isinstance(type_, Union):
        return [_render(branch, namespace) for branch in type_.branches]
    if isinstance(type_, AvroArray):
        return {"type": "array", "items": _render(type_.items, namespace)}
    if isinstance(type_, AvroMap):
        return {"type": "map", "values": _render(type_.values, namespace)}
    if isinstance(type_, AvroEnum | Fixed):
        raise AssertionError(f"no column is {describe_type(type_)}")  # noqa: TRY004 - a bug of this module
    return {"type": type_.kind, **_render_logical(type_.logical)} if type_.logical else type_.kind


def _render_field(field: RecordField, namespace: str) -> dict[str, Any]:
    default = {"default": field.default} if field.has_default else {}
    return {"name": field.name, "type": _render(field.type, namespace), **default}


def _render_logical(logical: LogicalType) -> dict[str, Any]:
    sizes = {"precision": logical.precision, "scale": logical.scale} if logical.name == "decimal" else {}
    return {"logicalType": logical.name, **sizes}
