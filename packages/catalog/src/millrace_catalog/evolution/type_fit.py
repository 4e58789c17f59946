"""Fit column types to one more value without losing any.

A value gets its column at once, with STRING where its type is unknown. A null needs no column: columns that the table
lacks read as NULL.
"""

from __future__ import annotations

from collections.abc import Iterable

from millrace_catalog.types import (
    NULL,
    ArrayType,
    Column,
    DataType,
    MapType,
    RowType,
    least_common_type,
    resolve_unknown,
)


def new_type(type_: DataType) -> DataType | None:
    """Return the type of a new column or field for a value of ``type_``; None for a null, which needs no column."""
    if type_ == NULL:
        return None
    if isinstance(type_, ArrayType):
        return ArrayType(new_type(type_.element) or resolve_unknown(type_.element))
    if isinstance(type_, RowType):
        fields = _present_fields((field.name, new_type(field.type)) for field in type_.fields)
        return RowType(fields) if fields else resolve_unknown(type_)
    return resolve_unknown(type_)


def fitting_type(before: DataType, type_: DataType) -> DataType:
    """Return the type that a column of type ``before`` needs to hold ``type_`` as well; new fields are nullable."""
    joined = least_common_type(before, type_)
    return before if joined is before else _without_null_fields(before, joined)


def drops_not_null(before: DataType, after: DataType) -> bool:
    """Return whether ``before`` or one of its parts is NOT NULL, and nullable in ``after``."""
    if after.nullable and not before.nullable:
        return True
    if isinstance(before, ArrayType) and isinstance(after, ArrayType):
        return drops_not_null(before.element, after.element)
    if isinstance(before, MapType) and isinstance(after, MapType):
        return drops_not_null(before.key, after.key) or drops_not_null(before.value, after.value)
    if isinstance(before, RowType) and isinstance(after, RowType):
        types = after.types
        return any(drops_not_null(field.type, types[field.name]) for field in before.fields)
    return False


def _without_null_fields(before: DataType, joined: DataType) -> DataType:
    """Give the new fields of a widened type the types of `new_type`, and drop those that it does not need."""
    if isinstance(before, ArrayType) and isinstance(joined, ArrayType):
        return ArrayType(_without_null_fields(before.element, joined.element), joined.nullable)
    if isinstance(before, MapType) and isinstance(joined, MapType):
        key, value = _without_null_fields(before.key, joined.key), _without_null_fields(before.value, joined.value)
        return MapType(key, value, joined.nullable)
    if isinstance(before, RowType) and isinstance(joined, RowType):
        types = before.types
        return RowType(
            _present_fields(_field(types.get(field.name), field) for field in joined.fields), joined.nullable
        )
    return joined


def _field(before: DataType | None, joined: Column) -> tuple[str, DataType | None]:
    return joined.name, new_type(joined.type) if before is None else _without_null_fields(before, joined.type)


def _present_fields(fields: Iterable[tuple[str, DataType | None]]) -> tuple[Column, ...]:
    return tuple(Column(name, type_) for name, type_ in fields if type_ is not None)
