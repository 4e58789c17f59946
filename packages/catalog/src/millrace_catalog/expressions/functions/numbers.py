"""Functions of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from millrace_catalog.expressions.function import (
    Function,
    InQueries,
    Sql,
    UnknownTypeError,
    first_type,
    same,
)
from millrace_catalog.expressions.value_types import arithmetic_type, is_integer, kind_of
from millrace_catalog.types import STRING, DataType


def _whole(name: str, in_queries: InQueries = "same") -> Function:
    """Return CEIL or FLOOR, whose result has the type of its argument; Spark's is a BIGINT."""

    def render(arguments: Sequence[Sql]) -> str:
        (number,) = arguments
        if is_integer(number.type):
            return f"({number})"
        rounded = f"{name}({number})"
        kind = kind_of(number.type)
        return f"CAST({rounded} AS {kind})" if kind in {"FLOAT", "DOUBLE"} else rounded

    return Function(1, 1, render, first_type, in_queries)


def _truncate(arguments: Sequence[Sql]) -> str:
    """Return a number without the digits behind a place, which counts to the left of the point below 0."""
    number, digits = arguments[0], arguments[1] if len(arguments) == 2 else Sql("0")
    kind = kind_of(number.type)
    if not re.fullmatch(r"-?\d+", digits):
        raise ValueError(f"TRUNCATE takes a whole number of digits, not {digits}")
    if is_integer(number.type):
        power = 10 ** -int(digits) if digits.startswith("-") else 1
        return f"CAST(({number}) - ({number}) % {power} AS {kind})"
    if kind == "DECIMAL":
        return _toward_zero(number, digits)
    if kind in {"FLOAT", "DOUBLE"}:
        return f"CAST({_toward_zero(f'CAST(CAST({number} AS STRING) AS DECIMAL(38, 18))', digits)} AS {kind})"
    raise UnknownTypeError(
        f"the type of {number} in TRUNCATE is not known here: write TRUNCATE(CAST({number} AS type))"
    )


def _toward_zero(number: str, digits: str) -> str:
    return f"CASE WHEN {number} < 0 THEN ceil({number}, {digits}) ELSE floor({number}, {digits}) END"


def _result(arguments: Sequence[Sql]) -> DataType | None:
    return arithmetic_type([argument.type for argument in arguments])


NUMBERS: dict[str, Function] = {
    "ABS": same("abs", 1, 1, first_type),
    "CEIL": _whole("ceil"),
    "CEILING": _whole("ceil", "respelt"),
    "FLOOR": _whole("floor"),
    "MOD": Function(2, 2, lambda arguments: f"(({arguments[0]}) % ({arguments[1]}))", _result, in_queries="respelt"),
    "ROUND": same("round", 1, 2, first_type),
    "TRUNCATE": Function(1, 2, _truncate, first_type, in_queries="respelt"),
    "UUID": Function(0, 0, lambda _: "uuid()", STRING),
}
