"""The types of aggregates' arguments that are known before Spark analyses the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_FLOATS = {"float", "double"}


@dataclass(frozen=True)
class ArgumentType:
    """The type of a number.

    Attributes:
        is_known: Whether it is known.
        is_exact: Whether it is an integer or a decimal, whose sums can be taken back exactly.
        decimal: Of a decimal: precision and scale.
    """

    is_known: bool = False
    is_exact: bool = False
    decimal: tuple[int, int] | None = None


UNKNOWN = ArgumentType()


def type_of(expression: exp.Expr, columns: Mapping[str, Any]) -> ArgumentType:
    """Return the type of an expression over columns, which are known by their names in lower case."""
    if isinstance(expression, exp.Paren | exp.Neg):
        return type_of(expression.this, columns)
    if isinstance(expression, exp.Column):
        type_ = columns.get(expression.name.lower())
        return _named(type_.simpleString()) if type_ is not None else UNKNOWN
    if isinstance(expression, exp.Cast):
        return _named(expression.to.sql(dialect="spark").lower().replace(" ", ""))
    if isinstance(expression, exp.Literal) and not expression.is_string and expression.name.isdigit():
        return _named("bigint")
    if isinstance(expression, exp.Add | exp.Sub | exp.Mul):
        sides = [type_of(side, columns) for side in (expression.this, expression.expression)]
        if all(side.is_known and side.decimal is None for side in sides):
            return ArgumentType(is_known=True, is_exact=all(side.is_exact for side in sides))
    return UNKNOWN


def type_of_sum(argument: exp.Expr, columns: Mapping[str, Any]) -> DataType | None:
    """Return the type of a sum in Spark; None where that of its argument is not known."""
    from pyspark.sql.types import DecimalType, DoubleType, LongType

    type_ = type_of(argument, columns)
    if not type_.is_known:
        return None
    if type_.decimal is not None:
        precision, scale = type_.decimal
        return DecimalType(min(precision + 10, 38), scale)
    return LongType() if type_.is_exact else DoubleType()


def of_kind(kind: str) -> ArgumentType:
    """Return the type of numbers of a kind, such as BIGINT; of DECIMAL, whose digits are not known, for sums alone."""
    return ArgumentType(is_exact=True) if kind == "DECIMAL" else _named(kind.lower())


def _named(name: str) -> ArgumentType:
    if name in _INTEGERS:
        return ArgumentType(is_known=True, is_exact=True)
    if name in _FLOATS:
        return ArgumentType(is_known=True)
    if name == "decimal":
        return ArgumentType(is_known=True, is_exact=True, decimal=(10, 0))
    if name.startswith("decimal(") and name.endswith(")"):
        precision, _, scale = name[8:-1].partition(",")
        return ArgumentType(is_known=True, is_exact=True, decimal=(int(precision), int(scale or 0)))
    return UNKNOWN
