"""Bound the memory that one message can take as Arrow columns.

A list of null structs takes a byte an item in the message, and a slot for every field of each item in columns.
"""

from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.avro.schema.model import AvroArray, AvroEnum, AvroMap, AvroType, Fixed, Primitive, Record, Union

BUDGET = 1 << 29
"""Bytes that the lists of one message may take as columns."""

_HARMLESS_RATIO = 16
_OFFSET = 4
_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "string": _OFFSET, "bytes": _OFFSET}
_MIN_SIZES = {"null": 0, "float": 4, "double": 8}


def max_fast_size(type_: AvroType) -> int:
    """Return the size in bytes up to which no message of a type that does not contain itself exceeds the budget."""
    ratio = _expansion_ratio(type_)
    return sys.maxsize if ratio <= _HARMLESS_RATIO else BUDGET // ratio


def min_column_width(type_: pa.DataType) -> int:
    """Return the bytes that a value of a column takes at least, even where it is null."""
    if pt.is_struct(type_):
        return 1 + sum(min_column_width(type_.field(i).type) for i in range(type_.num_fields))
    return type_.bit_width // 8 + 1 if pt.is_primitive(type_) or pt.is_decimal(type_) else _OFFSET


def _expansion_ratio(type_: AvroType) -> int:
    """Return the bytes of columns that a byte of a message's lists can become."""
    if isinstance(type_, Record):
        return max((_expansion_ratio(field.type) for field in type_.fields), default=0)
    if isinstance(type_, Union):
        return max(map(_expansion_ratio, type_.branches))
    if isinstance(type_, AvroArray | AvroMap):
        item = type_.items if isinstance(type_, AvroArray) else type_.values
        size = _min_size(item) + isinstance(type_, AvroMap)
        return max(_expansion_ratio(item), (_OFFSET + _column_width(item)) // max(size, 1))
    return 0


def _column_width(type_: AvroType) -> int:
    if isinstance(type_, Record):
        return sum(_column_width(field.type) for field in type_.fields)
    if isinstance(type_, Union):
        return max(map(_column_width, type_.branches))
    if isinstance(type_, Fixed):
        return type_.size
    return _WIDTHS.get(type_.kind, 8) if isinstance(type_, Primitive) else _OFFSET


def _min_size(type_: AvroType) -> int:
    """Return the bytes that a value takes at least in a message."""
    if isinstance(type_, Record):
        return sum(_min_size(field.type) for field in type_.fields)
    if isinstance(type_, Fixed):
        return type_.size
    if isinstance(type_, AvroEnum | AvroArray | AvroMap | Union):
        return 1
    return _MIN_SIZES.get(type_.kind, 1)
