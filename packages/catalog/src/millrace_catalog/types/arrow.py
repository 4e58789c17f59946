"""Conversion from and to Arrow types: the ones that Spark uses for its own types.

Arrow knows no lengths of text and bytes, and its timestamps have microseconds. A TIMESTAMP_TZ keeps its point in time,
not its zone.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from millrace.errors import SchemaError
from millrace_catalog.types import model
from millrace_catalog.types.identifiers import column_context
from millrace_catalog.types.model import (
    ArrayType,
    Column,
    DataType,
    Kind,
    MapType,
    RowType,
    ScalarType,
    Schema,
    with_nullability,
)

_TO_ARROW: dict[Kind, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "CHAR": pa.string(),
    "VARCHAR": pa.string(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "VARBINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIME": pa.time64("ns"),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMP_LTZ": pa.timestamp("us", "UTC"),
    "TIMESTAMP_TZ": pa.timestamp("us", "UTC"),
}

_FROM_ARROW: dict[pa.DataType, ScalarType] = {
    pa.null(): model.NULL,
    pa.bool_(): model.BOOLEAN,
    pa.int8(): model.TINYINT,
    pa.int16(): model.SMALLINT,
    pa.int32(): model.INT,
    pa.int64(): model.BIGINT,
    pa.float32(): model.FLOAT,
    pa.float64(): model.DOUBLE,
    pa.string(): model.STRING,
    pa.large_string(): model.STRING,
    pa.binary(): model.BYTES,
    pa.large_binary(): model.BYTES,
    pa.date32(): model.DATE,
}
_PRECISIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def to_arrow(type_: DataType) -> pa.DataType:
    """Convert a type to Arrow's.

    Raises:
        SchemaError: Arrow has no such type (VARIANT), or it is NULL, an unknown type.
    """
    if isinstance(type_, ArrayType):
        return pa.list_(_field("element", type_.element))
    if isinstance(type_, MapType):
        return pa.map_(to_arrow(type_.key), _field("value", type_.value))
    if isinstance(type_, RowType):
        return pa.struct([_field(field.name, field.type) for field in type_.fields])
    if type_.kind == "DECIMAL":
        return pa.decimal128(type_.size, type_.scale)
    if type_.kind not in _TO_ARROW:
        raise SchemaError(f"{type_.kind} has no type in Arrow; read it as STRING")
    return _TO_ARROW[type_.kind]


def to_arrow_schema(schema: Schema) -> pa.Schema:
    """Convert a schema to Arrow's; SchemaError names a column whose type Arrow lacks."""
    return pa.schema([_arrow_column(column) for column in schema])


def from_arrow(type_: pa.DataType) -> DataType:
    """Convert an Arrow type; SchemaError when it is not supported."""
    if type_ in _FROM_ARROW:
        return _FROM_ARROW[type_]
    if pt.is_decimal128(type_) and 0 <= type_.scale <= type_.precision:
        return model.decimal(type_.precision, type_.scale)
    if pt.is_timestamp(type_):
        return (model.timestamp if type_.tz is None else model.timestamp_ltz)(_PRECISIONS[type_.unit])
    if pt.is_time(type_):
        return model.time(_PRECISIONS[type_.unit])
    if pt.is_struct(type_):
        return RowType(tuple(_column(type_.field(index)) for index in range(type_.num_fields)))
    if pt.is_map(type_):
        return MapType(with_nullability(from_arrow(type_.key_type), False), _type(type_.item_field))
    if pt.is_list(type_) or pt.is_large_list(type_):
        return ArrayType(_type(type_.value_field))
    raise SchemaError(f"Arrow's type {type_} is not supported")


def from_arrow_schema(schema: pa.Schema) -> Schema:
    """Convert an Arrow schema; SchemaError names a column whose type is not supported."""
    return Schema(tuple(_column(field) for field in schema))


def _arrow_column(column: Column) -> pa.Field:
    with column_context(column.name):
        return _field(column.name, column.type)


def _field(name: str, type_: DataType) -> pa.Field:
    return pa.field(name, to_arrow(type_), type_.nullable)


def _column(field: pa.Field) -> Column:
    with column_context(field.name):
        return Column(field.name, _type(field))


def _type(field: pa.Field) -> DataType:
    return with_nullability(from_arrow(field.type), field.nullable)
