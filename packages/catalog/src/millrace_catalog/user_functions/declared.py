"""Decorators that declare the types of a function's results, where annotations cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from millrace_catalog.types import ArrayType, Column, DataType, RowType, parse_type

F = TypeVar("F", bound=Callable[..., Any])
_RESULT, _IS_TABLE = "__millrace_result__", "__millrace_is_table__"


def udf(function: F | None = None, *, result_type: str) -> Any:
    """Declare the type of a scalar function's results, such as ``@udf(result_type="DECIMAL(10, 2)")``.

    Args:
        function: The function; None as a decorator with arguments.
        result_type: The type, as SQL writes it.
    """
    return _declared(function, parse_type(result_type), is_table=False)


def udtf(function: F | None = None, *, result_types: Sequence[str]) -> Any:
    """Declare the types of the columns that a table function returns rows of.

    Args:
        function: The function; None as a decorator with arguments.
        result_types: The types, as SQL writes them; rows of a single one are its values.
    """
    return _declared(function, rows_of([parse_type(result_type) for result_type in result_types]), is_table=True)


def rows_of(types: Sequence[DataType]) -> DataType:
    """Return the type of a table function's rows: an array of values, or of rows with the fields f0, f1 and so on."""
    if len(types) == 1:
        return ArrayType(types[0])
    return ArrayType(RowType(tuple(Column(f"f{number}", type_) for number, type_ in enumerate(types))))


def declared_result(function: Callable[..., Any]) -> tuple[DataType, bool] | None:
    """Return the type that a decorator has declared, and whether it is that of rows; None without a decorator."""
    type_ = getattr(function, _RESULT, None)
    return None if type_ is None else (type_, getattr(function, _IS_TABLE))


def _declared(function: F | None, type_: DataType, *, is_table: bool) -> Any:
    def declare(function: F) -> F:
        setattr(function, _RESULT, type_)
        setattr(function, _IS_TABLE, is_table)
        return function

    return declare if function is None else declare(function)
