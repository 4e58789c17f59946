"""Conversion from and to Spark types.

Spark stores no lengths of bytes, and times to the microsecond. A TIMESTAMP_TZ keeps its point in time, not its zone.
Lengths of text are in the metadata of fields, as in the schemas of Spark's own tables, for those who ask for them.
"""

from __future__ import annotations

import re

from pyspark.sql import types as sql

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

_MAX_PRECISION = 6
_TEXT_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
"""Key of the metadata of a field of CHAR or VARCHAR: https://spark.apache.org/docs/latest/sql-ref-datatypes.html."""

_TEXT_OF_LENGTH = re.compile(r"(char|varchar)\((\d+)\)")
_TO_SPARK: dict[Kind, sql.DataType] = {
    "BOOLEAN": sql.BooleanType(),
    "TINYINT": sql.ByteType(),
    "SMALLINT": sql.ShortType(),
    "INT": sql.IntegerType(),
    "BIGINT": sql.LongType(),
    "FLOAT": sql.FloatType(),
    "DOUBLE": sql.DoubleType(),
    "CHAR": sql.StringType(),
    "VARCHAR": sql.StringType(),
    "STRING": sql.StringType(),
    "BINARY": sql.BinaryType(),
    "VARBINARY": sql.BinaryType(),
    "DATE": sql.DateType(),
    "TIMESTAMP": sql.TimestampNTZType(),
    "TIMESTAMP_LTZ": sql.TimestampType(),
    "TIMESTAMP_TZ": sql.TimestampType(),
    "VARIANT": sql.VariantType(),
    "NULL": sql.NullType(),
}
_FROM_SPARK: dict[type[sql.DataType], ScalarType] = {
    sql.BooleanType: model.BOOLEAN,
    sql.ByteType: model.TINYINT,
    sql.ShortType: model.SMALLINT,
    sql.IntegerType: model.INT,
    sql.LongType: model.BIGINT,
    sql.FloatType: model.FLOAT,
    sql.DoubleType: model.DOUBLE,
    sql.StringType: model.STRING,
    sql.BinaryType: model.BYTES,
    sql.DateType: model.DATE,
    sql.TimestampNTZType: model.timestamp(),
    sql.TimestampType: model.timestamp_ltz(),
    sql.VariantType: model.VARIANT,
    sql.NullType: model.NULL,
}


def to_spark(type_: DataType) -> sql.DataType:
    """Convert a type to Spark's."""
    if isinstance(type_, ArrayType):
        return sql.ArrayType(to_spark(type_.element), type_.element.nullable)
    if isinstance(type_, MapType):
        return sql.MapType(to_spark(type_.key), to_spark(type_.value), type_.value.nullable)
    if isinstance(type_, RowType):
        return _struct(type_.fields)
    if type_.kind == "DECIMAL":
        return sql.DecimalType(type_.size or 0, type_.scale or 0)
    if type_.kind == "TIME":
        return sql.TimeType(min(type_.size or 0, _MAX_PRECISION))
    return _TO_SPARK[type_.kind]


def to_spark_schema(schema: Schema, *, lengths: bool = False) -> sql.StructType:
    """Convert a schema to Spark's.

    Args:
        schema: The schema.
        lengths: Whether fields of CHAR and VARCHAR have their types as metadata.
    """
    struct = _struct(schema.columns)
    if lengths:
        for field, column in zip(struct.fields, schema, strict=True):
            if isinstance(column.type, ScalarType) and column.type.kind in ("CHAR", "VARCHAR"):
                field.metadata = {_TEXT_TYPE: str(with_nullability(column.type, True)).lower()}
    return struct


def from_spark(type_: sql.DataType) -> DataType:
    """Convert a Spark type; SchemaError when it is not supported, such as an interval."""
    if isinstance(type_, sql.ArrayType):
        return ArrayType(with_nullability(from_spark(type_.elementType), type_.containsNull))
    if isinstance(type_, sql.MapType):
        value = with_nullability(from_spark(type_.valueType), type_.valueContainsNull)
        return MapType(with_nullability(from_spark(type_.keyType), False), value)
    if isinstance(type_, sql.StructType):
        return RowType(from_spark_schema(type_).columns)
    return _from_scalar(type_)


def from_spark_schema(schema: sql.StructType, *, lengths: bool = False) -> Schema:
    """Convert a Spark schema; SchemaError names a column whose type is not supported.

    Args:
        schema: The schema.
        lengths: Whether the metadata of fields counts: see `to_spark_schema`.
    """
    return Schema(tuple(_text_column(field) or _column(field) if lengths else _column(field) for field in schema))


def _from_scalar(type_: sql.DataType) -> ScalarType:
    if type(type_) in _FROM_SPARK:
        return _FROM_SPARK[type(type_)]
    if isinstance(type_, sql.DecimalType) and 0 <= type_.scale <= type_.precision:
        return model.decimal(type_.precision, type_.scale)
    if isinstance(type_, sql.TimeType):
        return model.time(type_.precision)
    if isinstance(type_, sql.CharType):
        return model.char(type_.length)
    if isinstance(type_, sql.VarcharType):
        return model.varchar(type_.length)
    raise SchemaError(f"Spark's type {type_.simpleString()} is not supported")


def _struct(columns: tuple[Column, ...]) -> sql.StructType:
    return sql.StructType(
        [sql.StructField(column.name, to_spark(column.type), column.type.nullable) for column in columns]
    )


def _text_column(field: sql.StructField) -> Column | None:
    """Return a column of CHAR or VARCHAR; None where the metadata names none."""
    match = _TEXT_OF_LENGTH.fullmatch(field.metadata.get(_TEXT_TYPE, ""))
    if match is None:
        return None
    make = model.char if match[1] == "char" else model.varchar
    return Column(field.name, with_nullability(make(int(match[2])), field.nullable))


def _column(field: sql.StructField) -> Column:
    with column_context(field.name):
        return Column(field.name, with_nullability(from_spark(field.dataType), field.nullable))
