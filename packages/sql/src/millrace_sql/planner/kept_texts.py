"""The texts by which a stage of Python gets, keeps and returns the values of aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millrace_sql.errors import SqlError
from millrace_sql.planner.accumulators import Accumulator
from millrace_sql.planner.ordered_values import ORDERED_KINDS
from millrace_sql.planner.state_values import nested_text_of, text_of, value_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


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
        array: Any = type_
        text = nested_text_of(f"{column}[0]", array.elementType)
        if text is None:
            raise _refusal(accumulator, array.elementType, "use a part of it")
        # NULL is a value too, the empty text
        return f"CASE WHEN {column} IS NOT NULL THEN COALESCE(CONCAT('=', {text}), '') END"
    # -0.0 is 0.0
    text = text_of(f"({column} + 0.0D)" if type_.typeName() in {"float", "double"} else column, type_)
    if text is None:
        raise _refusal(accumulator, type_, "use to_json of it")
    return text


def _refusal(accumulator: Accumulator, type_: DataType, advice: str) -> SqlError:
    function = {"min": "MIN", "max": "MAX", "sum": "SUM", "distinct": "COUNT(DISTINCT)"}.get(accumulator.kind, "a list")
    return SqlError(
        f"{function} of {accumulator.argument}: values of type {type_.simpleString()} cannot be kept; {advice}"
    )


def decoded_sql(column: str, accumulator: Accumulator, type_: DataType) -> str:
    """Return the value of a text.

    Args:
        column: The text that Python returns.
        accumulator: The aggregate.
        type_: The type that `encoded_sql` had.
    """
    if accumulator.kind in {"count", "distinct"}:
        return f"CAST({column} AS BIGINT)"
    if accumulator.kind == "sum":
        return f"CAST({column} AS {_type_of_sum(type_)})"
    if accumulator.kind not in ORDERED_KINDS:
        return value_of(column, type_)
    array: Any = type_
    value = value_of("SUBSTRING(__text, 2)", array.elementType)
    return f"TRANSFORM(FROM_JSON({column}, 'ARRAY<STRING>'), __text -> CASE WHEN __text <> '' THEN {value} END)"


def _type_of_sum(type_: Any) -> str:
    if type_.typeName() == "decimal":
        return f"DECIMAL({min(type_.precision + 10, 38)},{type_.scale})"
    return "DOUBLE" if type_.typeName() in {"float", "double"} else "BIGINT"
