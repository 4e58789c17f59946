"""Calls of a function in Python for columns of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from millrace_catalog.types import DataType
from millrace_catalog.types.arrow import to_arrow

Failure = Callable[[int | None, str], Exception]
"""Makes the error of a row by its number among those of a call, or of all rows for None, with the reason."""


def call_with_arrays(
    function: Callable[..., Any], result: DataType, columns: Sequence[pa.Array], count: int, failed: Failure
) -> pa.Array:
    """Call a function that takes arrays.

    Args:
        function: The function.
        result: The type of its results.
        columns: Its arguments.
        count: The number of rows.
        failed: Makes errors.

    Raises:
        Exception: The one that ``failed`` makes: it fails, or returns no array of as many values of the type.
    """
    try:
        returned = function(*columns)
        returned = returned.combine_chunks() if isinstance(returned, pa.ChunkedArray) else returned
        return _checked(returned, count).cast(to_arrow(result))
    except Exception as error:
        raise failed(None, f"{type(error).__name__}: {error}") from error


def call_with_rows(
    function: Callable[..., Any],
    result: DataType,
    columns: Sequence[pa.Array],
    count: int,
    failed: Failure,
    *,
    returns_rows: bool = False,
) -> pa.Array:
    """Call a function for each row; see `call_with_arrays`.

    Args:
        function: The function.
        result: The type of its results.
        columns: Its arguments.
        count: The number of rows.
        failed: Makes errors.
        returns_rows: Whether a result is an iterator of rows, which become a list.

    Raises:
        Exception: The one that ``failed`` makes: it fails, or returns a value of another type.
    """
    values = [column.to_pylist(maps_as_pydicts="strict") for column in columns]
    results, type_ = [], to_arrow(result)
    for index, arguments in enumerate(zip(*values, strict=True) if values else [()] * count):
        try:
            returned = function(*arguments)
            results.append(_rows(returned, type_) if returns_rows else returned)
        except Exception as error:
            raise failed(index, f"{type(error).__name__}: {error}") from error
    try:
        return pa.array(results, type_)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        for index, value in enumerate(results):
            try:
                pa.array([value], type_)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise failed(index, f"expected a result of {result}, found {value!r}") from error
        raise


def _rows(returned: Iterable[Any] | None, type_: pa.DataType) -> list[Any]:
    """Return the rows of a table function as Arrow takes them: those with fields as dictionaries."""
    rows = [] if returned is None else list(returned)
    if not pa.types.is_struct(type_.value_type):
        return rows
    names = [field.name for field in type_.value_type]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _checked(returned: Any, count: int) -> pa.Array:
    if isinstance(returned, pa.Array) and len(returned) == count:
        return returned
    shown = f"{len(returned)} values" if isinstance(returned, pa.Array) else type(returned).__name__
    raise TypeError(f"expected an array of Arrow with {count} values, found {shown}")
