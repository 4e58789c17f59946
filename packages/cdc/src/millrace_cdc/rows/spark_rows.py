"""Rows as JSON objects, read by Spark: the texts of a `ChangeConverter` as structs of typed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as fn
from pyspark.sql import types as sql

from millrace_cdc.rows.json_expressions import read_type

if TYPE_CHECKING:
    from pyspark.sql import Column


def row_struct(row: Column, schema: sql.StructType) -> Column:
    """Return a struct of a row's columns; NULL where there is no row.

    Args:
        row: The row, as JSON in bytes.
        schema: The columns.
    """
    parsed = fn.from_json(row.cast("string"), read_type(schema))
    # Names may have dots
    columns = [_typed(parsed.getField(field.name), field.dataType).alias(field.name) for field in schema]
    return fn.when(row.isNotNull(), fn.struct(*columns))


def _typed(value: Column, type_: sql.DataType) -> Column:
    if read_type(type_) == type_:
        return value
    if isinstance(type_, sql.ArrayType):
        return fn.transform(value, lambda element: _typed(element, type_.elementType))
    if isinstance(type_, sql.MapType):
        values = fn.transform_values(value, lambda _, inner: _typed(inner, type_.valueType))
        return fn.transform_keys(values, lambda key, _: _typed(key, type_.keyType))
    if isinstance(type_, sql.StructType):
        fields = [_typed(value.getField(field.name), field.dataType).alias(field.name) for field in type_]
        return fn.when(value.isNotNull(), fn.struct(*fields))
    return fn.unbase64(value) if isinstance(type_, sql.BinaryType) else value.cast(type_)
