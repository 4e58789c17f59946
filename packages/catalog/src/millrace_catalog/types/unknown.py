"""Types of which a part is not known yet, since values have been null or empty only."""

from __future__ import annotations

from collections.abc import Callable

from millrace_catalog.types.model import NULL, STRING, Array, Column, DataType, Map, Row
from millrace_catalog.types.widen import with_nullability


def nullable_throughout(type_: DataType) -> DataType:
    """A type whose parts may all be NULL, as those of a table whose next message nobody knows."""
    return _with_parts(type_, nullable_throughout)


def settled(type_: DataType) -> DataType:
    """The same, with STRING where nothing is known, so too for a ROW without fields."""
    if type_ == NULL or (isinstance(type_, Row) and not type_.fields):
        return STRING
    return _with_parts(type_, settled)


def _with_parts(type_: DataType, convert: Callable[[DataType], DataType]) -> DataType:
    """A nullable type of converted parts."""
    if isinstance(type_, Array):
        return Array(convert(type_.element))
    if isinstance(type_, Map):
        return Map(convert(type_.key), convert(type_.value))
    if isinstance(type_, Row):
        return Row(tuple(Column(field.name, convert(field.type)) for field in type_.fields))
    return with_nullability(type_, True)
