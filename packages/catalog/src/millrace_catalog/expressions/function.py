"""A function of the reference's SQL: its arguments, its spelling in Spark, and the type of its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from millrace_catalog.types import DataType

ANY_NUMBER = 1_000
"""The largest number of arguments of functions that take any."""

_TEXT = re.compile(r"'(?:[^'\\]|\\.|'')*'", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)|''", re.DOTALL)

InQueries = Literal["same", "respelt", "different"]
"""Spark's own function of the name in a query: it means the same, does not exist, or means something else."""


class Sql(str):
    """An expression in Spark SQL.

    Attributes:
        type: Its type; None where it is not known.
    """

    __slots__ = ("type",)

    type: DataType | None

    def __new__(cls, text: str, type_: DataType | None = None) -> Sql:
        """Return the text of an expression with its type."""
        sql = super().__new__(cls, text)
        sql.type = type_
        return sql


class UnknownTypeError(ValueError):
    """The meaning of an expression depends on a type that is not known."""


Render = Callable[[Sequence[Sql]], str]
"""Makes Spark's text of the arguments'; raises ValueError for arguments that Spark has no expression for."""


@dataclass(frozen=True)
class Function:
    """A function.

    Attributes:
        fewest: The least number of arguments.
        most: The largest number of arguments.
        render: Makes Spark's text of a call.
        result: The type of the result, or a function that derives it from the arguments; None where it is not known.
        in_queries: How Spark's function of the same name compares.
        separators: Words that separate arguments as commas do, such as FROM in ``SUBSTRING(x FROM 1)``.
        takes_unit: Whether the first argument is a unit of time, such as DAY.
        in_pipelines: Makes Spark's text of a call in a pipeline, where Flink CDC means something else than Flink's SQL.
    """

    fewest: int
    most: int
    render: Render
    result: DataType | Callable[[Sequence[Sql]], DataType | None] | None = None
    in_queries: InQueries = "same"
    separators: frozenset[str] = frozenset()
    takes_unit: bool = False
    in_pipelines: Render | None = None

    def check(self, name: str, count: int) -> None:
        """Check the number of arguments.

        Raises:
            ValueError: It is wrong.
        """
        if self.fewest <= count <= self.most:
            return
        expected = str(self.fewest) if self.fewest == self.most else f"{self.fewest} to {self.most}"
        if self.most == ANY_NUMBER:
            expected = f"{self.fewest} or more"
        raise ValueError(f"function {name} takes {expected} argument{'' if expected == '1' else 's'}, not {count}")

    def call(self, name: str, arguments: Sequence[Sql], *, in_pipeline: bool = False) -> Sql:
        """Return a call in Spark SQL.

        Raises:
            ValueError: The number of arguments is wrong, or Spark has no expression for them.
        """
        self.check(name, len(arguments))
        result = self.result(arguments) if callable(self.result) else self.result
        render = (self.in_pipelines if in_pipeline else None) or self.render
        return Sql(render(arguments), result)


def same(
    name: str,
    fewest: int,
    most: int | None = None,
    result: DataType | Callable[[Sequence[Sql]], DataType | None] | None = None,
    *,
    in_queries: InQueries = "same",
    separators: Sequence[str] = (),
) -> Function:
    """Return a function that Spark has under a name, with the same arguments in the same order."""
    return Function(
        fewest,
        fewest if most is None else most,
        lambda arguments: f"{name}({', '.join(arguments)})",
        result,
        in_queries,
        frozenset(separators),
    )


def first_type(arguments: Sequence[Sql]) -> DataType | None:
    """Return the type of the first argument."""
    return arguments[0].type if arguments else None


def literal_text(sql: str) -> str | None:
    """Return the value of a text in Spark SQL; None for another expression."""
    if not _TEXT.fullmatch(sql):
        return None
    return _ESCAPED.sub(lambda match: match[1] or "'", sql[1:-1])


def text_literal(value: str) -> str:
    """Return a text in Spark SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
