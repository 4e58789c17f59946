"""Columns from what msgspec read: plain values as they are, text of times and decimals parsed a column at a time.

What a column-wise parser would not take, or not exactly as the exact reader, is left to that: its row is reported to
``reject`` and holds NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.json.decimal_column import decimals_from_raw
from millrace_formats.json.shapes import attribute
from millrace_formats.shared.sql_times import parse_time
from millrace_formats.shared.time_columns import parse_dates, parse_timestamps

Reject = Callable[[np.ndarray], None]
"""Is told the positions of values that the exact reader has to read."""

Build = Callable[[list[Any], Reject], pa.Array]
"""Makes a column from the values of a list."""


def struct_columns(fields: list[pa.Field], iso: bool) -> Callable[[list[Any], Reject], list[pa.Array]]:
    """A builder of the fields' columns from a list of instances of the struct's shape."""
    parts = [(_getter(index), column_builder(field, iso)) for index, field in enumerate(fields)]

    def build(rows: list[Any], reject: Reject) -> list[pa.Array]:
        return [column(values(rows), reject) for values, column in parts]

    return build


def column_builder(field: pa.Field, iso: bool) -> Build:
    """A builder of the column of a field, element or map value; ``iso`` is how timestamps are written."""
    type_ = field.type
    if pt.is_struct(type_):
        return _struct_builder(type_, iso)
    if pt.is_map(type_):
        return _map_builder(type_, iso)
    if pt.is_list(type_):
        return _list_builder(type_, iso)
    if pt.is_decimal128(type_):
        return lambda values, reject: decimals_from_raw(values, field, reject)
    if pt.is_timestamp(type_):
        return lambda values, reject: parse_timestamps(pa.array(values, pa.string()), type_, iso, reject)
    if pt.is_date32(type_):
        return lambda values, reject: parse_dates(pa.array(values, pa.string()), reject)
    if pt.is_time64(type_):
        return lambda values, reject: _times(values, type_, reject)
    return lambda values, _: pa.array(values, type_)


def _getter(index: int) -> Callable[[list[Any]], list[Any]]:
    # with the attribute in the bytecode this is twice as fast as operator.attrgetter
    return eval(f"lambda rows: [row.{attribute(index)} for row in rows]")  # noqa: S307


def _struct_builder(type_: pa.DataType, iso: bool) -> Build:
    fields = [type_.field(i) for i in range(type_.num_fields)]
    columns = struct_columns(fields, iso)
    empty = _Nothing()

    def build(values: list[Any], reject: Reject) -> pa.Array:
        nulls = [value is None for value in values]
        if not any(nulls):
            return _struct_array(columns(values, reject), fields, None, len(values))
        filled = [empty if value is None else value for value in values]
        return _struct_array(columns(filled, reject), fields, pa.array(nulls), len(values))

    return build


class _Nothing:
    """Stands for a struct that is null: whatever field is asked for, it is null too."""

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
        offsets, nulls = _offsets(values)
        inner = elements(list(chain.from_iterable(filter(None, values))), _outer(reject, offsets))
        return pa.ListArray.from_arrays(pa.array(offsets), inner, type=type_, mask=nulls)

    return build


def _map_builder(type_: pa.DataType, iso: bool) -> Build:
    items = column_builder(type_.item_field, iso)

    def build(values: list[Any], reject: Reject) -> pa.Array:
        offsets, nulls = _offsets(values)
        filled = list(filter(None, values))
        keys = pa.array(list(chain.from_iterable(filled)), pa.string())
        inner = items([item for value in filled for item in value.values()], _outer(reject, offsets))
        return pa.MapArray.from_arrays(pa.array(offsets), keys, inner, type=type_, mask=nulls)

    return build


def _offsets(values: list[Any]) -> tuple[np.ndarray, pa.BooleanArray | None]:
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([0 if value is None else len(value) for value in values], out=offsets[1:])
    nulls = [value is None for value in values]
    return offsets, pa.array(nulls) if any(nulls) else None


def _outer(reject: Reject, offsets: np.ndarray) -> Reject:
    """Reports positions of elements as those of the lists that hold them."""
    return lambda positions: reject(np.searchsorted(offsets, positions, side="right") - 1)


def _times(values: list[Any], type_: pa.DataType, reject: Reject) -> pa.Array:
    divisor = 1 if type_.unit == "ns" else 1000
    result: list[int | None] = []
    for position, value in enumerate(values):
        try:
            result.append(None if value is None else parse_time(value) // divisor)
        except ValueError:
            result.append(None)
            reject(np.array([position]))
    return pa.array(result, type_)
