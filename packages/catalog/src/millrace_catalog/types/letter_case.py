"""Names of columns that differ only in case, which Spark and most databases take for the same."""

from __future__ import annotations

from collections.abc import Iterable

from millrace_catalog.types.model import ArrayType, Column, DataType, MapType, RowType


def names_differing_in_case(columns: Iterable[Column], path: str = "") -> tuple[str, str] | None:
    """Return the first two columns, or fields of one, whose names differ only in case; None where there are none.

    Args:
        columns: The columns.
        path: The beginning of their names in the result.
    """
    spellings: dict[str, str] = {}
    for column in columns:
        name = f"{path}{column.name}"
        other = spellings.setdefault(name.lower(), name)
        if other != name:
            return other, name
        differing = names_differing_in_case(_fields(column.type), f"{name}.")
        if differing is not None:
            return differing
    return None


def _fields(type_: DataType) -> tuple[Column, ...]:
    if isinstance(type_, ArrayType):
        return _fields(type_.element)
    if isinstance(type_, MapType):
        return _fields(type_.value)
    return type_.fields if isinstance(type_, RowType) else ()
