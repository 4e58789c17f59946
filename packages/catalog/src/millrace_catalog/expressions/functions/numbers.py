"""Functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from millrace_catalog.expressions.function import (
    Function,
    InQueries,
    Sql,
    first_type,
    same,
)
from millrace_catalog.expressions.value_types import arithmetic_type, is_integer, kind_of
from millrace_catalog.types import STRING, DataType


def _whole(name: str, in_queries: InQueries) -> Function:
    """Return CEIL or FLOOR, whose result has the type of its argument; Spark's is a BIGINT."""

    def render(arguments: Sequence[Sql]) -> str:
        (number,) = arguments
        if is_integer(number.type):
            return f"({number})"
        rounded = f"{name}({number})"
        kind = kind_of(number.type)
        return f"CAST({rounded} AS {kind})" if kind in {"FLOAT", "DOUBLE"} else rounded

    return Function(1, 1, render, first_type, in_queries)


def _result(arguments: Sequence[Sql]) -> DataType | None:
    return arithmetic_type([argument.type for argument in arguments])


NUMBERS: dict[str, Function] = {
    "ABS": same("abs", 1, 1, first_type),
    "CEIL": _whole("ceil", "different"),
    "CEILING": _whole("ceil", "respelt"),
    "FLOOR": _whole("floor", "different"),
    "MOD": Function(2, 2, lambda arguments: f"(({arguments[0]}) % ({arguments[1]}))", _result, in_queries="respelt"),
    "ROUND": same("round", 1, 2, first_type),
    "UUID": Function(0, 0, lambda _: "uuid()", STRING),
}
