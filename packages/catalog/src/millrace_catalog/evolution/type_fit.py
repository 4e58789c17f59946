"""Making a table hold one more value, such that none is lost.

A value that is there has its column at once, with STRING where nothing is known yet. A NULL needs none: a column that
the table lacks is read as NULL.
"""

from __future__ import annotations

from collections.abc import Iterable

from millrace_catalog.types import NULL, Array, Column, DataType, Map, Row, least_common_type, settled


def new_type(type_: DataType) -> DataType | None:
    """The type of a new column, or of a new field of one, that has a value of ``type_``; None when it needs none."""
    if type_ == NULL:
        return None
    if isinstance(type_, Array):
        return Array(new_type(type_.element) or settled(type_.element))
    if isinstance(type_, Row):
        needed = _fields((field.name, new_type(field.type)) for field in type_.fields)
        return Row(needed) if needed else settled(type_)
    return settled(type_)


def fitting_type(before: DataType, type_: DataType) -> DataType:
    """The type that a column of type ``before`` needs to hold a value of ``type_`` too; new fields are nullable."""
    joined = least_common_type(before, type_)
    return before if joined is before else _without_needless(before, joined)


def loosens(before: DataType, after: DataType) -> bool:
    """Whether ``before``, or one of its parts, is NOT NULL and nullable in ``after``."""
    if after.nullable and not before.nullable:
        return True
    if isinstance(before, Array) and isinstance(after, Array):
        return loosens(before.element, after.element)
    if isinstance(before, Map) and isinstance(after, Map):
        return loosens(before.key, after.key) or loosens(before.value, after.value)
    if isinstance(before, Row) and isinstance(after, Row):
        types = after.types
        return any(loosens(field.type, types[field.name]) for field in before.fields)
    return False


def _without_needless(before: DataType, joined: DataType) -> DataType:
    """What ``before`` and a value joined to, each of its new fields as `new_type` says."""
    if isinstance(before, Array) and isinstance(joined, Array):
        return Array(_without_needless(before.element, joined.element), joined.nullable)
    if isinstance(before, Map) and isinstance(joined, Map):
        key, value = _without_needless(before.key, joined.key), _without_needless(before.value, joined.value)
        return Map(key, value, joined.nullable)
    if isinstance(before, Row) and isinstance(joined, Row):
        known = before.types
        return Row(_fields(_field(known.get(field.name), field) for field in joined.fields), joined.nullable)
    return joined


def _field(before: DataType | None, joined: Column) -> tuple[str, DataType | None]:
    return joined.name, new_type(joined.type) if before is None else _without_needless(before, joined.type)


def _fields(found: Iterable[tuple[str, DataType | None]]) -> tuple[Column, ...]:
    return tuple(Column(name, type_) for name, type_ in found if type_ is not None)
