"""Columns from the arrays that the fast reader gives, which have the types of `millrace_formats.avro.wire`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.avro.conversion import Reject, reject_outside, reject_where
from millrace_formats.avro.model import Fixed, Scalar, split_nullable
from millrace_formats.avro.number_values import INT_HIGH, INT_LOW
from millrace_formats.avro.plan import Choice, Items, Null, Pairs, Plan, Rows, Skip, Texts, Unreadable, Value
from millrace_formats.shared.column_casts import cast_or_reject

Build = Callable[[pa.Array, Reject], pa.Array]
"""Makes a column. Null is left null where it must not be, for the outer column to reject."""


def column_builder(plan: Plan) -> Build:
    """A builder of the column that a plan gives."""
    return _BUILDERS[type(plan)](plan)


def row_builder(plan: Rows) -> Callable[[list[pa.Array], int, Reject], list[pa.Array]]:
    """A builder of a row's columns from the arrays of a record's fields and their length."""
    parts = [
        (place, column, column_builder(part)) for place, (part, column) in enumerate(plan.parts) if column is not None
    ]
    defaults = {column: pa.array([value], plan.fields[column].type) for column, value in plan.defaults.items()}

    def build(arrays: list[pa.Array], count: int, reject: Reject) -> list[pa.Array]:
        columns: list[pa.Array] = [None] * len(plan.fields)
        for place, column, builder in parts:
            columns[column] = builder(arrays[place], reject)
        for column, default in defaults.items():
            columns[column] = default.take(pa.array(np.zeros(count, np.int32)))
        return columns

    return build


def reject_nulls(
    fields: tuple[pa.Field, ...], columns: list[pa.Array], valid: pa.BooleanArray | None, reject: Reject
) -> None:
    """Reject where a column that is NOT NULL is null.

    Args:
        fields: The columns' fields.
        columns: The columns.
        valid: Where the struct is that holds them; None for everywhere.
        reject: Is told the positions.
    """
    for field, column in zip(fields, columns, strict=True):
        if not field.nullable and column.null_count:
            wrong = column.is_null() if valid is None else pc.and_(column.is_null(), valid)
            positions = np.flatnonzero(wrong.to_numpy(zero_copy_only=False))
            if len(positions):
                reject(positions)


def _value_builder(plan: Value) -> Build:
    column = plan.conversion.column
    writer = plan.writer
    if isinstance(writer, Fixed):
        return lambda values, reject: column(_fixed(values, writer.size), reject)
    if isinstance(writer, Scalar) and writer.kind in ("bytes", "string"):
        return lambda values, reject: column(values.view(pa.binary()), reject)
    if isinstance(writer, Scalar) and writer.kind == "int":
        # The wire has 64 bits for it
        return lambda values, reject: column(reject_outside(values, INT_LOW, INT_HIGH, reject), reject)
    return column


def _fixed(values: pa.StructArray, size: int) -> pa.BinaryArray:
    """The bytes of a fixed, from the doubles and floats that hold their bits."""
    count = len(values)
    octets = np.empty((count, size), np.uint8)
    at = 0
    for part in (values.field(i) for i in range(values.type.num_fields)):
        width = part.type.bit_width // 8
        found = np.frombuffer(part.buffers()[1], np.uint8, count * width, part.offset * width)
        octets[:, at : at + width] = found.reshape(count, width)
        at += width
    valid = values.is_valid()
    offsets = np.arange(count + 1, dtype=np.int32) * size
    buffers = [valid.buffers()[1] if values.null_count else None, pa.py_buffer(offsets), pa.py_buffer(octets)]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def _struct_builder(plan: Rows) -> Build:
    build_row, fields = row_builder(plan), list(plan.fields)

    def build(values: pa.StructArray, reject: Reject) -> pa.StructArray:
        arrays = [values.field(i) for i in range(values.type.num_fields)]
        columns = build_row(arrays, len(values), reject)
        valid = values.is_valid() if values.null_count else None
        reject_nulls(plan.fields, columns, valid, reject)
        mask = None if valid is None else pc.invert(valid)
        return pa.StructArray.from_arrays(columns, fields=fields, mask=mask)

    return build


def _list_builder(plan: Items) -> Build:
    items = column_builder(plan.item)

    def build(values: pa.ListArray, reject: Reject) -> pa.ListArray:
        outer = _outer(values, reject)
        inner = items(values.values, outer)
        reject_nulls((plan.field,), [inner], None, outer)
        return pa.ListArray.from_arrays(values.offsets, inner, type=plan.type, mask=_nulls(values))

    return build


def _map_builder(plan: Pairs) -> Build:
    items = column_builder(plan.value)

    def build(values: pa.MapArray, reject: Reject) -> pa.MapArray:
        outer = _outer(values, reject)
        keys = cast_or_reject(values.keys.view(pa.binary()), pa.string(), outer).fill_null("")
        _reject_repeated(keys, values.offsets.to_numpy(), reject)
        inner = items(values.items, outer)
        reject_nulls((plan.field,), [inner], None, outer)
        return pa.MapArray.from_arrays(values.offsets, keys, inner, type=plan.type, mask=_nulls(values))

    return build


def _texts_builder(plan: Texts) -> Build:
    parts = [
        (place, plan.writer.fields[place].name, column_builder(part))
        for place, part in enumerate(plan.parts)
        if not isinstance(part, Skip)
    ]
    names = pa.array([name for _, name, _ in parts], pa.string())

    def build(values: pa.StructArray, reject: Reject) -> pa.MapArray:
        texts = [builder(values.field(place), reject) for place, _, builder in parts]
        width, count = len(parts), len(values)
        # Field by field, and then message by message
        order = np.arange(width * count, dtype=np.int64).reshape(width, count).T.reshape(-1)
        items = pa.concat_arrays([*texts, pa.array([], pa.string())]).take(pa.array(order))
        keys = names.take(pa.array(np.tile(np.arange(width, dtype=np.int64), count)))
        offsets = pa.array(np.arange(count + 1, dtype=np.int32) * width)
        return pa.MapArray.from_arrays(offsets, keys, items, type=plan.type, mask=_nulls(values))

    return build


def _reject_repeated(keys: pa.StringArray, offsets: np.ndarray, reject: Reject) -> None:
    """Reject maps that have a key more than once, of which the last counts."""
    coded = keys.dictionary_encode()
    rows = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    pairs = rows * (len(coded.dictionary) + 1) + coded.indices.to_numpy()
    if pc.count_distinct(pa.array(pairs)).as_py() < len(pairs):
        _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        reject(np.unique(rows[first[counts > 1]]))


def _outer(values: pa.Array, reject: Reject) -> Reject:
    """Reports positions of items as those of the lists or maps that hold them."""

    def report(positions: np.ndarray) -> None:
        reject(np.searchsorted(values.offsets.to_numpy(), positions, side="right") - 1)

    return report


def _choice_builder(plan: Choice) -> Build:
    _, null = split_nullable(plan.writer)
    return column_builder(plan.branches[0 if null else 1])


def _null_builder(plan: Null) -> Build:
    return lambda values, _: pa.nulls(len(values), plan.type)


def _unreadable_builder(plan: Unreadable) -> Build:
    return lambda values, reject: reject_where(values.is_valid(), pa.nulls(len(values), plan.type), reject)


def _nulls(values: pa.Array) -> pa.BooleanArray | None:
    return values.is_null() if values.null_count else None


_BUILDERS: dict[type, Callable[[Any], Build]] = {
    Value: _value_builder,
    Items: _list_builder,
    Pairs: _map_builder,
    Texts: _texts_builder,
    Rows: _struct_builder,
    Choice: _choice_builder,
    Null: _null_builder,
    Unreadable: _unreadable_builder,
}
