"""How many columns a type is worth."""

from __future__ import annotations

from millrace_catalog.types.model import Array, DataType, Map, Row


def count_columns(type_: DataType) -> int:
    """One for a value; for a row as many as its fields are worth, wherever it stands."""
    if isinstance(type_, Array):
        return count_columns(type_.element)
    if isinstance(type_, Map):
        return count_columns(type_.key) + count_columns(type_.value) - 1
    if isinstance(type_, Row):
        return max(1, sum(count_columns(field.type) for field in type_.fields))
    return 1
