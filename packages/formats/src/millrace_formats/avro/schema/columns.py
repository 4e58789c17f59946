"""Columns of an Avro record, for a read that names none."""

from __future__ import annotations

import pyarrow as pa

from millrace.errors import SchemaError
from millrace_formats.avro.schema.model import (
    NULL,
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroType,
    Fixed,
    LogicalType,
    Record,
    Union,
    describe_type,
    split_nullable,
)

_MAX_PRECISION = 38
_PRIMITIVES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "null": pa.string(),
}
_TIMES = {
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us", "UTC"),
    "local-timestamp": pa.timestamp("us"),
}


def columns_of(format_name: str, schema: AvroType) -> pa.Schema | None:
    """Return a column for each field of a record, or of the records of a union; None for other types.

    All may be NULL, since messages of other versions or records may lack them.

    Raises:
        SchemaError: A field is of a type that does not tell its column's, or of several types in several records.
    """
    branches = schema.branches if isinstance(schema, Union) else (schema,)
    types: dict[str, pa.DataType] = {}
    for record in branches:
        if not isinstance(record, Record):
            if record == NULL:
                continue
            return None
        for field in record.fields:
            type_ = _type(format_name, field.type, field.name, (record.name,))
            if types.setdefault(field.name, type_) != type_:
                raise _no_type(format_name, f"{field.name}, which is of several types in the records of a union")
    return pa.schema(list(types.items())) if types else None


def _type(format_name: str, type_: AvroType, path: str, outer: tuple[str, ...]) -> pa.DataType:
    type_, _ = split_nullable(type_)
    if isinstance(type_, AvroArray):
        return pa.list_(pa.field("element", _type(format_name, type_.items, f"{path}.element", outer)))
    if isinstance(type_, AvroMap):
        return pa.map_(pa.string(), _type(format_name, type_.values, f"{path}.value", outer))
    if isinstance(type_, Record) and type_.name not in outer and type_.fields:
        inner = (*outer, type_.name)
        fields = [(field.name, _type(format_name, field.type, f"{path}.{field.name}", inner)) for field in type_.fields]
        return pa.struct(fields)
    scalar = _scalar(type_)
    if scalar is None:
        raise _no_type(format_name, f"{path}, which is {describe_type(type_)}")
    return scalar


def _no_type(format_name: str, field: str) -> SchemaError:
    return SchemaError(
        f"format {format_name} has no column type for field {field}: give the columns with "
        f".schema('id BIGINT, name STRING, ...')"
    )


def _scalar(type_: AvroType) -> pa.DataType | None:
    if isinstance(type_, AvroEnum):
        return pa.string()
    if isinstance(type_, Union):
        return _number({branch for branch in type_.branches if branch != NULL})
    if isinstance(type_, Record | AvroArray | AvroMap):
        return None
    if type_.logical is not None:
        return _logical(type_.logical)
    return pa.binary() if isinstance(type_, Fixed) else _PRIMITIVES[type_.kind]


def _number(branches: set[AvroType]) -> pa.DataType | None:
    """Return the type that holds the numbers of several types."""
    kinds = {getattr(branch, "kind", None) for branch in branches if getattr(branch, "logical", None) is None}
    if len(kinds) == len(branches) and kinds <= {"int", "long"}:
        return pa.int64()
    return pa.float64() if len(kinds) == len(branches) and kinds <= {"int", "float", "double"} else None


def _logical(logical: LogicalType) -> pa.DataType | None:
    if logical.name == "decimal":
        precision = logical.precision - min(logical.scale, 0)
        return pa.decimal128(precision, max(logical.scale, 0)) if precision <= _MAX_PRECISION else None
    if logical.name == "uuid":
        return pa.string()
    kind = logical.name.removesuffix("-millis").removesuffix("-micros").removesuffix("-nanos")
    return _TIMES.get(kind)
