"""Values in JSON, read and written in Spark SQL: what `row_struct` does for rows, for single values."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import types as sql

from millrace_catalog.types.identifiers import backquote

_AS_TEXT = (sql.DateType, sql.TimestampNTZType, sql.TimestampType, sql.TimeType, sql.BinaryType)
"""Types that JSON has no values of. A DECIMAL is a number, of whose text Spark keeps only the digits of a DOUBLE."""


def needs_json(type_: sql.DataType) -> bool:
    """Return whether `value_sql` takes a value of a type as an object with the field ``v``, not as text."""
    return isinstance(type_, sql.ArrayType | sql.MapType | sql.StructType | sql.VariantType)


def value_sql(text: str, type_: sql.DataType) -> str:
    """Return the expression of a value of a type.

    Args:
        text: The expression of its text; see `needs_json`.
        type_: The type.
    """
    if isinstance(type_, sql.NullType):
        return "NULL"
    if not needs_json(type_):
        return _typed(text, type_)
    columns = _quoted(f"v {_ddl(read_type(type_))}")
    return _typed(f"from_json({text}, {columns}).v", type_)


def json_sql(value: str, type_: sql.DataType, depth: int = 0) -> str:
    """Return an expression that `to_json` writes as rows have it.

    Args:
        value: The expression of the value.
        type_: Its type.
        depth: The number of expressions around it that have variables.
    """
    nested = _nested(value, type_, json_sql, depth, key=lambda key, _: f"CAST({key} AS STRING)")
    if nested is not None:
        return nested
    if isinstance(type_, sql.TimestampType):
        # In UTC, whatever the session's time zone
        seconds = f"CAST(unix_micros({value}) / CAST(1000000 AS DECIMAL(7, 0)) AS DECIMAL(18, 6))"
        moment = f"TIMESTAMP_NTZ '1970-01-01' + make_dt_interval(0, 0, 0, {seconds})"
        return f"concat(CAST({moment} AS STRING), 'Z')"
    if isinstance(type_, sql.BinaryType):
        return f"base64({value})"
    return f"CAST({value} AS STRING)" if isinstance(type_, _AS_TEXT) else value


def read_type(type_: sql.DataType) -> sql.DataType:
    """Return the type to read a value of JSON as, before it is converted to the type that is meant."""
    if isinstance(type_, sql.ArrayType):
        return sql.ArrayType(read_type(type_.elementType))
    if isinstance(type_, sql.MapType):
        return sql.MapType(sql.StringType(), read_type(type_.valueType))
    if isinstance(type_, sql.StructType):
        return sql.StructType([sql.StructField(field.name, read_type(field.dataType)) for field in type_])
    return sql.StringType() if isinstance(type_, _AS_TEXT) else type_


def _nested(
    value: str,
    type_: sql.DataType,
    convert: Callable[[str, sql.DataType, int], str],
    depth: int,
    *,
    key: Callable[[str, sql.DataType], str],
) -> str | None:
    """Return the expression of an array, a map or a struct whose inner values are converted; None for another type."""
    variable = f"w{depth}"
    if isinstance(type_, sql.ArrayType):
        return f"transform({value}, {variable} -> {convert(variable, type_.elementType, depth + 1)})"
    if isinstance(type_, sql.MapType):
        inner = convert(variable, type_.valueType, depth + 1)
        values = f"transform_values({value}, (k{depth}, {variable}) -> {inner})"
        return f"transform_keys({values}, (k{depth}, {variable}) -> {key(f'k{depth}', type_.keyType)})"
    if isinstance(type_, sql.StructType):
        fields = ((field.name, f"{value}.{backquote(field.name)}", field.dataType) for field in type_)
        written = ", ".join(f"{_quoted(name)}, {convert(field, inner, depth + 1)}" for name, field, inner in fields)
        return f"IF({value} IS NULL, NULL, named_struct({written}))"
    return None


def _typed(value: str, type_: sql.DataType, depth: int = 0) -> str:
    if (depth or needs_json(type_)) and read_type(type_) == type_:
        return value
    # The keys of JSON's objects are texts, whatever their type
    nested = _nested(value, type_, _typed, depth, key=_typed)
    if nested is not None:
        return nested
    if isinstance(type_, sql.VariantType | sql.StringType):
        return value
    return f"unbase64({value})" if isinstance(type_, sql.BinaryType) else f"CAST({value} AS {_ddl(type_)})"


def _ddl(type_: sql.DataType) -> str:
    if isinstance(type_, sql.ArrayType):
        return f"ARRAY<{_ddl(type_.elementType)}>"
    if isinstance(type_, sql.MapType):
        return f"MAP<{_ddl(type_.keyType)}, {_ddl(type_.valueType)}>"
    if isinstance(type_, sql.StructType):
        return f"STRUCT<{', '.join(f'{backquote(field.name)}: {_ddl(field.dataType)}' for field in type_)}>"
    return "TIMESTAMP_LTZ" if isinstance(type_, sql.TimestampType) else type_.simpleString()


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
