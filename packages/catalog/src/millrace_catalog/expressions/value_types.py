"""Types of values of expressions, as far as they follow from the types of columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from millrace_catalog.types import BIGINT, BOOLEAN, DOUBLE, FLOAT, INT, NULL, STRING, DataType, ScalarType, decimal
from millrace_catalog.types.widen import deeply_nullable

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_MAX_DIGITS = 38
_BOOLEANS = (
    "And Between Boolean EQ Escape GT GTE In Is LT LTE Like NEQ Not NullSafeEQ NullSafeNEQ Or RegexpLike SimilarTo"
)


def kind_of(type_: DataType | None) -> str:
    """Return the name of a type without its size, such as DECIMAL; empty where the type is not known."""
    if type_ is None:
        return ""
    return type_.kind if isinstance(type_, ScalarType) else type(type_).__name__.upper()


def is_integer(type_: DataType | None) -> bool:
    """Return whether a type is that of integers."""
    return kind_of(type_) in _INTEGERS


def widest_integer(types: Iterable[DataType | None]) -> DataType:
    """Return the type of the largest of some integers, at least INT."""
    return BIGINT if any(kind_of(type_) == "BIGINT" for type_ in types) else INT


def number_type(written: str) -> DataType:
    """Return the type of a number as it is written."""
    if "e" in written.lower():
        return DOUBLE
    if "." in written:
        digits, _, fraction = written.partition(".")
        return decimal(min(len(digits) + len(fraction), _MAX_DIGITS), min(len(fraction), _MAX_DIGITS))
    if int(written) < 1 << 31:
        return INT
    return BIGINT if int(written) < 1 << 63 else decimal(min(len(written), _MAX_DIGITS), 0)


def arithmetic_type(types: Sequence[DataType | None]) -> DataType | None:
    """Return the type of a sum, product, quotient or remainder; the size of a DECIMAL is not computed."""
    kinds = [kind_of(type_) for type_ in types]
    if "" in kinds:
        return None
    if all(kind in _INTEGERS for kind in kinds):
        return widest_integer(types)
    if "DOUBLE" in kinds or {"FLOAT", "DECIMAL"} <= set(kinds):
        return DOUBLE
    if "FLOAT" in kinds:
        return FLOAT
    return decimal(_MAX_DIGITS, 0) if set(kinds) <= {*_INTEGERS, "DECIMAL"} else None


def common_type(types: Sequence[DataType | None]) -> DataType | None:
    """Return the type of a value that is one of several; None where it is not known."""
    if any(type_ is None for type_ in types):
        return None
    distinct = list(dict.fromkeys(deeply_nullable(type_) for type_ in types if type_ is not None and type_ != NULL))
    if not distinct:
        return NULL
    if len(distinct) == 1:
        return distinct[0]
    return arithmetic_type(distinct)


def operator_type(node: Any, operands: Sequence[DataType | None]) -> DataType | None:
    """Return the type of an operator's result.

    Args:
        node: A node of sqlglot's tree.
        operands: The types of its operands.
    """
    name = type(node).__name__
    if name in _BOOLEANS.split():
        return BOOLEAN
    if name in {"DPipe", "Trim"}:
        return STRING
    if name in {"Paren", "Neg"}:
        return operands[0]
    if name in {"Add", "Sub"} and "Interval" in {type(node.this).__name__, type(node.expression).__name__}:
        return operands[0] if type(node.expression).__name__ == "Interval" else operands[1]
    if name in {"Add", "Sub", "Mul", "Div", "Mod", "IntDiv"}:
        return arithmetic_type(operands)
    return NULL if name == "Null" else None
