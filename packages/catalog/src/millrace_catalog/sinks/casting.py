"""Cast Spark columns to wider types, so that stored values read as if they had been decoded with the wider type.

Messages are texts, so a STRING gets the text that messages usually have: ``true``, ``12``, ``1.5``, ``2020-12-30``,
``2020-12-30 12:13:14``, a point in time in UTC with ``Z``, base64 of bytes, and JSON of arrays, maps and structs. Other
spellings (``1.50``, ``1e3``, ``T`` between date and time, blanks) are lost. NULL fields of a struct are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as fn
from pyspark.sql import types as sql

_TEXT = sql.StringType()
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def cast(column: Column, before: sql.DataType, after: sql.DataType) -> Column:
    """Cast a column of type ``before`` to ``after``; new fields are NULL."""
    if same_type(before, after):
        return column
    if isinstance(before, sql.ArrayType) and isinstance(after, sql.ArrayType):
        return fn.transform(column, _cast_element(before.elementType, after.elementType))
    if isinstance(before, sql.MapType) and isinstance(after, sql.MapType):
        return _cast_map(column, before, after)
    if isinstance(before, sql.StructType) and isinstance(after, sql.StructType):
        return _cast_struct(column, before, after)
    return to_text(column, before) if after == _TEXT else column.cast(after)


def same_type(before: sql.DataType, after: sql.DataType) -> bool:
    """Return whether types are equal, apart from nullability."""
    return bool(_deeply_nullable(before) == _deeply_nullable(after))


def to_text(column: Column, type_: sql.DataType) -> Column:
    """Convert a column to the text that a message would have."""
    if isinstance(type_, sql.ArrayType | sql.MapType | sql.StructType):
        return fn.to_json(_json_value(column, type_))
    if isinstance(type_, sql.VariantType):
        return fn.to_json(column)
    if isinstance(type_, sql.BinaryType):
        return fn.base64(column)
    if isinstance(type_, sql.TimestampType):
        utc = fn.timestamp_add("MICROSECOND", fn.unix_micros(column), fn.expr(_EPOCH))
        return fn.concat(utc.cast(_TEXT), fn.lit("Z"))
    return column.cast(_TEXT)


def _json_value(column: Column, type_: sql.DataType) -> Column:
    """Convert times and bytes within a column to text, so that Spark's JSON has millrace's spelling of them."""
    if isinstance(type_, sql.ArrayType):
        return fn.transform(column, lambda item: _json_value(item, type_.elementType))
    if isinstance(type_, sql.MapType):
        named = fn.transform_keys(column, lambda key, _: to_text(key, type_.keyType))
        return fn.transform_values(named, lambda _, value: _json_value(value, type_.valueType))
    if isinstance(type_, sql.StructType):
        fields = [_json_value(column.getField(field.name), field.dataType).alias(field.name) for field in type_.fields]
        return fn.when(column.isNotNull(), fn.struct(*fields)) if fields else column
    is_plain = isinstance(type_, sql.NumericType | sql.BooleanType | sql.StringType | sql.VariantType)
    return column if is_plain else to_text(column, type_)


def _cast_element(before: sql.DataType, after: sql.DataType) -> Callable[[Column], Column]:
    return lambda item: cast(item, before, after)


def _cast_map(column: Column, before: sql.MapType, after: sql.MapType) -> Column:
    keyed = fn.transform_keys(column, lambda key, _: cast(key, before.keyType, after.keyType))
    return fn.transform_values(keyed, lambda _, value: cast(value, before.valueType, after.valueType))


def _cast_struct(column: Column, before: sql.StructType, after: sql.StructType) -> Column:
    types = {field.name: field.dataType for field in before.fields}
    fields = [
        cast(column.getField(field.name), types[field.name], field.dataType).alias(field.name)
        if field.name in types
        else fn.lit(None).cast(field.dataType).alias(field.name)
        for field in after.fields
    ]
    return fn.when(column.isNotNull(), fn.struct(*fields))


def _deeply_nullable(type_: sql.DataType) -> sql.DataType:
    if isinstance(type_, sql.ArrayType):
        return sql.ArrayType(_deeply_nullable(type_.elementType))
    if isinstance(type_, sql.MapType):
        return sql.MapType(_deeply_nullable(type_.keyType), _deeply_nullable(type_.valueType))
    if isinstance(type_, sql.StructType):
        return sql.StructType([sql.StructField(field.name, _deeply_nullable(field.dataType)) for field in type_.fields])
    return type_
