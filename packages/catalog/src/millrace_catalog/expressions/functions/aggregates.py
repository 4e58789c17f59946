"""Aggregates of queries that Spark has under the same name with another meaning."""

from __future__ import annotations

from collections.abc import Sequence

from millrace_catalog.expressions.function import Function, Sql
from millrace_catalog.types import STRING


def _listagg(arguments: Sequence[Sql]) -> str:
    value, separator = (*arguments, "','")[:2]
    return f"listagg({value}, {separator})"


def _without_nulls(name: str) -> Function:
    return Function(1, 1, lambda arguments: f"{name}({arguments[0]}, true)", in_queries="different")


AGGREGATES: dict[str, Function] = {
    "FIRST_VALUE": _without_nulls("first_value"),
    "LAST_VALUE": _without_nulls("last_value"),
    "LISTAGG": Function(1, 2, _listagg, STRING, "different"),
}
