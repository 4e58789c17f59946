"""Rows as JSON objects, read by Spark: the texts of a `ChangeConverter` as structs of typed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql import types as sql

if TYPE_CHECKING:
    from pyspark.sql import Column

_AS_TEXT = (sql.DateType, sql.TimestampNTZType, sql.TimestampType, sql.TimeType, sql.BinaryType, sql.DecimalType)
"""Types that JSON has no values of; a DECIMAL is a number, and its text keeps all digits."""


def row_struct(row: Column, schema: sql.StructType) -> Column:
    """Return a struct of a row's columns; NULL where there is no row.

    Args:
        row: The row, as JSON in bytes.
        schema: The columns.
    """
    parsed = fn.from_json(row.cast("string"), _read_struct(schema))
    # Names may have dots
    columns = [_typed(parsed.getField(each.name), each.dataType).alias(each.name) for each in schema]
    return fn.when(row.isNotNull(), fn.struct(*columns))


def _read_struct(schema: sql.StructType) -> sql.StructType:
    return sql.StructType([sql.StructField(each.name, _read_type(each.dataType)) for each in schema])


def _read_type(type_: sql.DataType) -> sql.DataType:
    """Return the type to read a value as, of which `_typed` makes the one that is meant."""
    if isinstance(type_, sql.ArrayType):
        return sql.ArrayType(_read_type(type_.elementType))
    if isinstance(type_, sql.MapType):
        return sql.MapType(sql.StringType(), _read_type(type_.valueType))
    if isinstance(type_, sql.StructType):
        return _read_struct(type_)
    return sql.StringType() if isinstance(type_, _AS_TEXT) else type_


def _typed(value: Column, type_: sql.DataType) -> Column:
    if _read_type(type_) == type_:
        return value
    if isinstance(type_, sql.ArrayType):
        return fn.transform(value, lambda element: _typed(element, type_.elementType))
    if isinstance(type_, sql.MapType):
        values = fn.transform_values(value, lambda _, inner: _typed(inner, type_.valueType))
        return fn.transform_keys(values, lambda key, _: _typed(key, type_.keyType))
    if isinstance(type_, sql.StructType):
        fields = [_typed(value.getField(each.name), each.dataType).alias(each.name) for each in type_]
        return fn.when(value.isNotNull(), fn.struct(*fields))
    return fn.unbase64(value) if isinstance(type_, sql.BinaryType) else value.cast(type_)
