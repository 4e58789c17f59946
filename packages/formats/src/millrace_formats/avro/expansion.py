"""How much larger than its bytes a message can become as columns, so that a small one cannot take all memory.

A list of structs that are null has one byte for each in the message, and a place for every field of each in columns.
"""

from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.avro.model import Array, AvroType, Enum, Fixed, Map, Record, Scalar, Union

BUDGET = 1 << 29
"""How many bytes the lists of one message may take as columns."""

_USUAL = 16
_OFFSET = 4
_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "string": _OFFSET, "bytes": _OFFSET}
_SHORTEST = {"null": 0, "float": 4, "double": 8}


def longest_message(type_: AvroType) -> int:
    """How long a message of a type may be, which does not hold itself, to stay within the budget."""
    ratio = _ratio(type_)
    return sys.maxsize if ratio <= _USUAL else BUDGET // ratio


def width(type_: pa.DataType) -> int:
    """How many bytes a value of a column takes at least, even where it is null."""
    if pt.is_struct(type_):
        return 1 + sum(width(type_.field(i).type) for i in range(type_.num_fields))
    return type_.bit_width // 8 + 1 if pt.is_primitive(type_) or pt.is_decimal(type_) else _OFFSET


def _ratio(type_: AvroType) -> int:
    """How many bytes of columns a byte of the lists of a message can become."""
    if isinstance(type_, Record):
        return max((_ratio(field.type) for field in type_.fields), default=0)
    if isinstance(type_, Union):
        return max(map(_ratio, type_.branches))
    if isinstance(type_, Array | Map):
        inner = type_.items if isinstance(type_, Array) else type_.values
        shortest = _shortest(inner) + isinstance(type_, Map)
        return max(_ratio(inner), (_OFFSET + _width(inner)) // max(shortest, 1))
    return 0


def _width(type_: AvroType) -> int:
    if isinstance(type_, Record):
        return sum(_width(field.type) for field in type_.fields)
    if isinstance(type_, Union):
        return max(map(_width, type_.branches))
    if isinstance(type_, Fixed):
        return type_.size
    return _WIDTHS.get(type_.kind, 8) if isinstance(type_, Scalar) else _OFFSET


def _shortest(type_: AvroType) -> int:
    """How many bytes a value has at least in a message."""
    if isinstance(type_, Record):
        return sum(_shortest(field.type) for field in type_.fields)
    if isinstance(type_, Fixed):
        return type_.size
    if isinstance(type_, Enum | Array | Map | Union):
        return 1
    return _SHORTEST.get(type_.kind, 1)
