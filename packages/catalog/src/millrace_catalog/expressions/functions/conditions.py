"""Functions that choose one of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from millrace_catalog.expressions.function import ANY_NUMBER, Function, Sql, first_type, same
from millrace_catalog.expressions.value_types import common_type
from millrace_catalog.types import DataType


def _common(arguments: Sequence[Sql]) -> DataType | None:
    return common_type([argument.type for argument in arguments])


def _of_branches(arguments: Sequence[Sql]) -> DataType | None:
    return _common(arguments[1:])


def _of_all(name: str) -> Function:
    """Return GREATEST or LEAST, which are NULL where an argument is; Spark ignores NULL."""

    def render(arguments: Sequence[Sql]) -> str:
        missing = " OR ".join(f"({argument}) IS NULL" for argument in arguments)
        return f"CASE WHEN {missing} THEN NULL ELSE {name}({', '.join(arguments)}) END"

    return Function(2, ANY_NUMBER, render, _common, in_queries="different")


CONDITIONS: dict[str, Function] = {
    "COALESCE": same("coalesce", 1, ANY_NUMBER, _common),
    "GREATEST": _of_all("greatest"),
    "IF": same("if", 3, 3, _of_branches),
    "IFNULL": same("ifnull", 2, 2, _common),
    "LEAST": _of_all("least"),
    "NULLIF": same("nullif", 2, 2, first_type),
}
