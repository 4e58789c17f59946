"""The texts by which a stage of Python gets, keeps and returns the values of aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millrace_sql.errors import SqlError
from millrace_sql.planner.accumulators import Accumulator
from millrace_sql.planner.ordered_values import ORDERED_KINDS

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

_SCALARS = {
    "byte",
    "short",
    "integer",
    "long",
    "decimal",
    "string",
    "boolean",
    "timestamp_ntz",
    "void",
    "varchar",
    "char",
}
_FORMATS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def encoded_sql(column: str, accumulator: Accumulator, type_: DataType) -> str:
    """Return the text of a value, which orders as the value does where Python reads it.

    Args:
        column: The argument of the aggregate, or the array of one value for kinds of an order.
        accumulator: The aggregate.
        type_: The type of the column.

    Raises:
        SqlError: Values of the type cannot be kept.
    """
    if accumulator.kind == "count":
        return f"CASE WHEN {column} IS NOT NULL THEN '1' END"
    if accumulator.kind in ORDERED_KINDS:
        element: Any = type_
        text = _text(f"{column}[0]", element.elementType)
        if text is None:
            text = _json(f"{column}[0]", element.elementType, accumulator)
        # NULL is a value too, the empty text
        return f"CASE WHEN {column} IS NOT NULL THEN COALESCE(CONCAT('=', {text}), '') END"
    text = _text(column, type_)
    if text is None:
        raise _refusal(accumulator, type_, "use to_json of it")
    return text


def _text(column: str, type_: DataType) -> str | None:
    name = type_.typeName()
    if name == "date":
        return f"CAST(UNIX_DATE({column}) AS STRING)"
    if name == "timestamp":
        return f"CAST(UNIX_MICROS({column}) AS STRING)"
    if name == "binary":
        return f"HEX({column})"
    if name in {"float", "double"}:
        return f"CAST({column} + 0.0D AS STRING)"  # -0.0 is 0.0
    return f"CAST({column} AS STRING)" if name in _SCALARS or _is_time(name) else None


def _json(value: str, type_: DataType, accumulator: Accumulator) -> str:
    if not _is_json(type_):
        raise _refusal(accumulator, type_, "use a part of it")
    formats = ", ".join(
        f"'{name}', '{pattern.replace(chr(39), chr(92) + chr(39))}'" for name, pattern in _FORMATS.items()
    )
    return f"TO_JSON(NAMED_STRUCT('v', {value}), MAP({formats}))"


def _is_json(type_: Any) -> bool:
    """Return whether values of a type come back from JSON as they were."""
    name = type_.typeName()
    if name == "array":
        return _is_json(type_.elementType)
    if name == "map":
        return bool(type_.keyType.typeName() == "string") and _is_json(type_.valueType)
    if name == "struct":
        return all(_is_json(field.dataType) for field in type_)
    return name in {"date", "timestamp", "binary", "float", "double"} | _SCALARS or _is_time(name)


def _is_time(name: str) -> bool:
    return name.partition("(")[0] == "time"


def _refusal(accumulator: Accumulator, type_: DataType, advice: str) -> SqlError:
    function = {"min": "MIN", "max": "MAX", "sum": "SUM", "distinct": "COUNT(DISTINCT)"}.get(accumulator.kind, "a list")
    return SqlError(
        f"{function} of {accumulator.argument}: values of type {type_.simpleString()} cannot be kept; {advice}"
    )


def decoded_column(column: str, accumulator: Accumulator, type_: DataType) -> Column:
    """Return the value of a text.

    Args:
        column: The text that Python returns.
        accumulator: The aggregate.
        type_: The type that `encoded_sql` had.
    """
    from pyspark.sql import functions as fn

    if accumulator.kind in {"count", "distinct"}:
        return fn.col(column).cast("bigint")
    if accumulator.kind == "sum":
        return fn.col(column).cast(_type_of_sum(type_))
    if accumulator.kind not in ORDERED_KINDS:
        return _value(fn.col(column), type_)
    element: Any = type_

    def element_of(text: Column) -> Column:
        return fn.when(text != "", _value(fn.substring(text, 2, 2**31 - 1), element.elementType))

    return fn.transform(fn.from_json(column, "ARRAY<STRING>"), element_of)


def _value(text: Column, type_: DataType) -> Column:
    from pyspark.sql import functions as fn
    from pyspark.sql.types import StructField, StructType

    name = type_.typeName()
    if name == "date":
        return fn.date_from_unix_date(text.cast("int"))
    if name == "timestamp":
        return fn.timestamp_micros(text.cast("bigint"))
    if name == "binary":
        return fn.unhex(text)
    if name in {"array", "map", "struct"}:
        return fn.from_json(text, StructType([StructField("v", type_)]), _FORMATS)["v"]
    return text.cast(type_)


def _type_of_sum(type_: Any) -> str:
    if type_.typeName() == "decimal":
        return f"DECIMAL({min(type_.precision + 10, 38)},{type_.scale})"
    return "DOUBLE" if type_.typeName() in {"float", "double"} else "BIGINT"


def number_type(type_: DataType) -> str:
    """Return how the texts of a type are read: as exact or floating-point numbers, or as texts."""
    name = type_.typeName()
    if name in {"float", "double"}:
        return "float"
    return "exact" if name in {"byte", "short", "integer", "long", "decimal", "date", "timestamp"} else "text"
