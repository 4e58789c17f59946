"""Conversion from and to Spark types.

Spark stores no lengths of text and bytes, and times to the microsecond. A TIMESTAMP_TZ keeps its point in time, not its
zone.
"""

from __future__ import annotations

from pyspark.sql import types as sql

from millrace.errors import SchemaError
from millrace_catalog.types import model
from millrace_catalog.types.identifiers import column_context
from millrace_catalog.types.model import Array, Column, DataType, Kind, Map, Row, Scalar, Schema, with_nullability

_MAX_PRECISION = 6
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
_FROM_SPARK: dict[type[sql.DataType], Scalar] = {
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
    if isinstance(type_, Array):
        return sql.ArrayType(to_spark(type_.element), type_.element.nullable)
    if isinstance(type_, Map):
        return sql.MapType(to_spark(type_.key), to_spark(type_.value), type_.value.nullable)
    if isinstance(type_, Row):
        return _struct(type_.fields)
    if type_.kind == "DECIMAL":
        return sql.DecimalType(type_.size or 0, type_.scale or 0)
    if type_.kind == "TIME":
        return sql.TimeType(min(type_.size or 0, _MAX_PRECISION))
    return _TO_SPARK[type_.kind]


def to_spark_schema(schema: Schema) -> sql.StructType:
    """Convert a schema to Spark's."""
    return _struct(schema.columns)


def from_spark(type_: sql.DataType) -> DataType:
    """Convert a Spark type; SchemaError when it is not supported, such as an interval."""
    if isinstance(type_, sql.ArrayType):
        return Array(with_nullability(from_spark(type_.elementType), type_.containsNull))
    if isinstance(type_, sql.MapType):
        value = with_nullability(from_spark(type_.valueType), type_.valueContainsNull)
        return Map(with_nullability(from_spark(type_.keyType), False), value)
    if isinstance(type_, sql.StructType):
        return Row(from_spark_schema(type_).columns)
    return _from_scalar(type_)


def from_spark_schema(schema: sql.StructType) -> Schema:
    """Convert a Spark schema; SchemaError names a column whose type is not supported."""
    return Schema(tuple(_column(field) for field in schema.fields))


def _from_scalar(type_: sql.DataType) -> Scalar:
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


def _column(field: sql.StructField) -> Column:
    with column_context(field.name):
        return Column(field.name, with_nullability(from_spark(field.dataType), field.nullable))
