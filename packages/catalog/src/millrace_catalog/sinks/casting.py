"""Columns of Spark as wider ones, such that what was stored reads as if it had been decoded as the wider type.

Messages are texts, and so a STRING gets what a message would have had: ``true``, ``12``, ``1.5``, ``2020-12-30``,
``2020-12-30 12:13:14``, of a point in time that in UTC with a ``Z``, of bytes their base64, of arrays, maps and structs
JSON. What a message wrote in another way than this (``1.50``, ``1e3``, ``T`` between date and time, blanks) is not
known any more. Fields of a struct that are NULL are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as fn
from pyspark.sql import types as sql

_TEXT = sql.StringType()
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


def cast(column: Column, before: sql.DataType, after: sql.DataType) -> Column:
    """A column of type ``before`` as ``after``; new fields are NULL."""
    if same(before, after):
        return column
    if isinstance(before, sql.ArrayType) and isinstance(after, sql.ArrayType):
        return fn.transform(column, _each(before.elementType, after.elementType))
    if isinstance(before, sql.MapType) and isinstance(after, sql.MapType):
        return _map(column, before, after)
    if isinstance(before, sql.StructType) and isinstance(after, sql.StructType):
        return _struct(column, before, after)
    return text(column, before) if after == _TEXT else column.cast(after)


def same(before: sql.DataType, after: sql.DataType) -> bool:
    """Whether types are the same but for what may be NULL."""
    return bool(_nullable(before) == _nullable(after))


def text(column: Column, type_: sql.DataType) -> Column:
    """A column as the text that a message would have."""
    if isinstance(type_, sql.ArrayType | sql.MapType | sql.StructType):
        return fn.to_json(_json(column, type_))
    if isinstance(type_, sql.VariantType):
        return fn.to_json(column)
    if isinstance(type_, sql.BinaryType):
        return fn.base64(column)
    if isinstance(type_, sql.TimestampType):
        utc = fn.timestamp_add("MICROSECOND", fn.unix_micros(column), fn.expr(_EPOCH))
        return fn.concat(utc.cast(_TEXT), fn.lit("Z"))
    return column.cast(_TEXT)


def _json(column: Column, type_: sql.DataType) -> Column:
    """A column as Spark's JSON has what ours has: texts for times and bytes."""
    if isinstance(type_, sql.ArrayType):
        return fn.transform(column, lambda item: _json(item, type_.elementType))
    if isinstance(type_, sql.MapType):
        named = fn.transform_keys(column, lambda key, _: text(key, type_.keyType))
        return fn.transform_values(named, lambda _, value: _json(value, type_.valueType))
    if isinstance(type_, sql.StructType):
        fields = [_json(column.getField(field.name), field.dataType).alias(field.name) for field in type_.fields]
        return fn.when(column.isNotNull(), fn.struct(*fields)) if fields else column
    is_plain = isinstance(type_, sql.NumericType | sql.BooleanType | sql.StringType | sql.VariantType)
    return column if is_plain else text(column, type_)


def _each(before: sql.DataType, after: sql.DataType) -> Callable[[Column], Column]:
    return lambda item: cast(item, before, after)


def _map(column: Column, before: sql.MapType, after: sql.MapType) -> Column:
    keyed = fn.transform_keys(column, lambda key, _: cast(key, before.keyType, after.keyType))
    return fn.transform_values(keyed, lambda _, value: cast(value, before.valueType, after.valueType))


def _struct(column: Column, before: sql.StructType, after: sql.StructType) -> Column:
    known = {field.name: field.dataType for field in before.fields}
    fields = [
        cast(column.getField(field.name), known[field.name], field.dataType).alias(field.name)
        if field.name in known
        else fn.lit(None).cast(field.dataType).alias(field.name)
        for field in after.fields
    ]
    return fn.when(column.isNotNull(), fn.struct(*fields))


def _nullable(type_: sql.DataType) -> sql.DataType:
    if isinstance(type_, sql.ArrayType):
        return sql.ArrayType(_nullable(type_.elementType))
    if isinstance(type_, sql.MapType):
        return sql.MapType(_nullable(type_.keyType), _nullable(type_.valueType))
    if isinstance(type_, sql.StructType):
        return sql.StructType([sql.StructField(field.name, _nullable(field.dataType)) for field in type_.fields])
    return type_
