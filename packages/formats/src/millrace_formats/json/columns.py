"""Build columns of values that msgspec has read; text of times and decimals is parsed a column at a time.

Values that the exact reader reads otherwise are rejected and NULL in the column.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.json.msgspec_types import NULL, attribute, list_getter
from millrace_formats.shared.column_casts import Reject, reject_lists
from millrace_formats.shared.number_columns import parse_decimals
from millrace_formats.shared.sql_times import parse_time
from millrace_formats.shared.time_columns import parse_dates, parse_timestamps

_NEWLINE = ord("\n")

Build = Callable[[list[Any], Reject], pa.Array]
"""Build a column of a list of values."""


def struct_columns(fields: list[pa.Field], iso: bool) -> Callable[[list[Any], Reject], list[pa.Array]]:
    """Return a builder of the fields' columns from instances of the struct's class."""
    parts = [(list_getter(f"row.{attribute(index)}"), column_builder(field, iso)) for index, field in enumerate(fields)]

    def build(rows: list[Any], reject: Reject) -> list[pa.Array]:
        return [column(values(rows), reject) for values, column in parts]

    return build


def column_builder(field: pa.Field, iso: bool) -> Build:
    """Return a builder of the column of a field, element or map value.

    Args:
        field: The field.
        iso: Whether timestamps are written with a ``T``.
    """
    type_ = field.type
    if pt.is_struct(type_):
        return _struct_builder(type_, iso)
    if pt.is_map(type_):
        return _map_builder(type_, iso)
    if pt.is_list(type_):
        return _list_builder(type_, iso)
    if pt.is_decimal128(type_):
        return lambda values, reject: _parse_decimals(values, field, reject)
    if pt.is_timestamp(type_):
        return lambda values, reject: parse_timestamps(pa.array(values, pa.string()), type_, iso, reject)
    if pt.is_date32(type_):
        return lambda values, reject: parse_dates(pa.array(values, pa.string()), reject)
    if pt.is_time64(type_):
        return lambda values, reject: _parse_times(values, type_, reject)
    return lambda values, _: pa.array(values, type_)


def _struct_builder(type_: pa.DataType, iso: bool) -> Build:
    fields = [type_.field(i) for i in range(type_.num_fields)]
    columns = struct_columns(fields, iso)
    null = _NullStruct()

    def build(values: list[Any], reject: Reject) -> pa.Array:
        nulls = [value is None for value in values]
        if not any(nulls):
            return _struct_array(columns(values, reject), fields, None, len(values))
        structs = [null if value is None else value for value in values]
        return _struct_array(columns(structs, reject), fields, pa.array(nulls), len(values))

    return build


class _NullStruct:
    """A struct that is null: all of its fields are null."""

    def __getattr__(self, name: str) -> None:
        return None


def _struct_array(
    columns: list[pa.Array], fields: list[pa.Field], nulls: pa.BooleanArray | None, length: int
) -> pa.StructArray:
    if not fields:
        return pa.array([None if null else {} for null in (nulls or [None] * length)], pa.struct([]))
    return pa.StructArray.from_arrays(columns, fields=fields, mask=nulls)


def _list_builder(type_: pa.DataType, iso: bool) -> Build:
    elements = column_builder(type_.value_field, iso)

    def build(values: list[Any], reject: Reject) -> pa.Array:
        offsets, nulls = list_offsets(values)
        inner = elements(list(chain.from_iterable(filter(None, values))), reject_lists(reject, offsets))
        return pa.ListArray.from_arrays(pa.array(offsets), inner, type=type_, mask=nulls)

    return build


def _map_builder(type_: pa.DataType, iso: bool) -> Build:
    items = column_builder(type_.item_field, iso)

    def build(values: list[Any], reject: Reject) -> pa.Array:
        offsets, nulls = list_offsets(values)
        maps = list(filter(None, values))
        keys = pa.array(list(chain.from_iterable(maps)), pa.string())
        inner = items([item for value in maps for item in value.values()], reject_lists(reject, offsets))
        return pa.MapArray.from_arrays(pa.array(offsets), keys, inner, type=type_, mask=nulls)

    return build


def list_offsets(values: list[Any]) -> tuple[np.ndarray, pa.BooleanArray | None]:
    """Return the offsets of lists or maps, and a mask of null ones; None where there are none."""
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([0 if value is None else len(value) for value in values], out=offsets[1:])
    nulls = [value is None for value in values]
    return offsets, pa.array(nulls) if any(nulls) else None


def _parse_times(values: list[Any], type_: pa.DataType, reject: Reject) -> pa.Array:
    divisor = 1 if type_.unit == "ns" else 1000
    result: list[int | None] = []
    for position, value in enumerate(values):
        try:
            result.append(None if value is None else parse_time(value) // divisor)
        except ValueError:
            result.append(None)
            reject(np.array([position]))
    return pa.array(result, type_)


def _parse_decimals(values: list[Any], field: pa.Field, reject: Reject) -> pa.Array:
    """Parse raw JSON values.

    Args:
        values: ``msgspec.Raw`` of a number, a string, ``null`` or anything else; None where an outer struct is null.
        field: The column.
        reject: Takes the indices of values that are neither a decimal that fits unrounded nor, where the column may be
            null, ``null``.
    """
    texts = raw_texts([NULL if value is None else value for value in values])
    nulls = pc.equal(texts, "null")
    if not field.nullable:
        _reject_nulls(values, nulls, reject)
    texts = pc.if_else(nulls, pa.scalar(None, pa.string()), texts)
    if pc.any(pc.starts_with(texts, '"')).as_py():
        texts = pc.utf8_trim(texts, '"')
    return parse_decimals(texts, field.type, reject)


def _reject_nulls(values: list[Any], nulls: pa.BooleanArray, reject: Reject) -> None:
    indices = np.flatnonzero(nulls.to_numpy(zero_copy_only=False)).tolist()
    nulls_in_json = [index for index in indices if values[index] is not None]
    if nulls_in_json:
        reject(np.array(nulls_in_json))


def raw_texts(values: list[Any]) -> pa.StringArray:
    """Return the text of ``msgspec.Raw`` values, as it is in their messages."""
    joined = np.frombuffer(b"\n".join(values), np.uint8)
    breaks = np.flatnonzero(joined == _NEWLINE)
    if len(breaks) != len(values) - 1:  # an object or array with line breaks, or no values
        return pa.array([bytes(value).decode() for value in values], pa.string())
    offsets = np.empty(len(values) + 1, np.int32)
    offsets[0] = 0
    offsets[1:-1] = breaks - np.arange(len(breaks))
    data = np.delete(joined, breaks)
    offsets[-1] = len(data)
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
