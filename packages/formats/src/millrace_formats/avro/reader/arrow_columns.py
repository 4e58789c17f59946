"""Build columns from the arrays that pyruhvro reads, whose types are those of ``schema.pyruhvro_schema``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.avro.reader.conversions import reject_outside, reject_where
from millrace_formats.avro.reader.read_plan import (
    ListPlan,
    MapPlan,
    NullPlan,
    ReadPlan,
    RecordPlan,
    ScalarPlan,
    SkipPlan,
    TextMapPlan,
    UnionPlan,
    UnreadablePlan,
)
from millrace_formats.avro.schema.model import INT_MAX, INT_MIN, Fixed, Primitive, split_nullable
from millrace_formats.shared.column_casts import Reject, cast_or_reject

Build = Callable[[pa.Array, Reject], pa.Array]
"""Build a column. A null in a NOT NULL column stays null, for the enclosing column to reject."""


def column_builder(plan: ReadPlan) -> Build:
    """Return a builder of the column that a plan reads."""
    return _BUILDERS[type(plan)](plan)


def row_builder(plan: RecordPlan) -> Callable[[list[pa.Array], int, Reject], list[pa.Array]]:
    """Return a builder of a row's columns from the arrays of a record's fields and their length."""
    parts = [
        (index, column, column_builder(part)) for index, (part, column) in enumerate(plan.parts) if column is not None
    ]
    defaults = {column: pa.array([value], plan.fields[column].type) for column, value in plan.defaults.items()}

    def build(arrays: list[pa.Array], count: int, reject: Reject) -> list[pa.Array]:
        columns: list[pa.Array] = [None] * len(plan.fields)
        for index, column, build_column in parts:
            columns[column] = build_column(arrays[index], reject)
        for column, default in defaults.items():
            columns[column] = default.take(pa.array(np.zeros(count, np.int32)))
        return columns

    return build


def reject_nulls(
    fields: tuple[pa.Field, ...], columns: list[pa.Array], valid: pa.BooleanArray | None, reject: Reject
) -> None:
    """Reject the rows where a NOT NULL column is null.

    Args:
        fields: The columns' fields.
        columns: The columns.
        valid: Where the enclosing struct is not null; None for everywhere.
        reject: Takes the positions.
    """
    for field, column in zip(fields, columns, strict=True):
        if not field.nullable and column.null_count:
            missing = column.is_null() if valid is None else pc.and_(column.is_null(), valid)
            positions = np.flatnonzero(missing.to_numpy(zero_copy_only=False))
            if len(positions):
                reject(positions)


def _scalar_builder(plan: ScalarPlan) -> Build:
    convert = plan.conversion.array
    writer = plan.writer
    if isinstance(writer, Fixed):
        return lambda array, reject: convert(_fixed_bytes(array, writer.size), reject)
    if isinstance(writer, Primitive) and writer.kind in ("bytes", "string"):
        return lambda array, reject: convert(array.view(pa.binary()), reject)
    if isinstance(writer, Primitive) and writer.kind == "int":
        # pyruhvro reads it as a long
        return lambda array, reject: convert(reject_outside(array, INT_MIN, INT_MAX, reject), reject)
    return convert


def _fixed_bytes(array: pa.StructArray, size: int) -> pa.BinaryArray:
    """Return the bytes of a fixed from the doubles and floats that hold their bits."""
    count = len(array)
    data = np.empty((count, size), np.uint8)
    offset = 0
    for part in (array.field(i) for i in range(array.type.num_fields)):
        width = part.type.bit_width // 8
        part_bytes = np.frombuffer(part.buffers()[1], np.uint8, count * width, part.offset * width)
        data[:, offset : offset + width] = part_bytes.reshape(count, width)
        offset += width
    valid = array.is_valid()
    offsets = np.arange(count + 1, dtype=np.int32) * size
    buffers = [valid.buffers()[1] if array.null_count else None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def _struct_builder(plan: RecordPlan) -> Build:
    build_row, fields = row_builder(plan), list(plan.fields)

    def build(array: pa.StructArray, reject: Reject) -> pa.StructArray:
        arrays = [array.field(i) for i in range(array.type.num_fields)]
        columns = build_row(arrays, len(array), reject)
        valid = array.is_valid() if array.null_count else None
        reject_nulls(plan.fields, columns, valid, reject)
        mask = None if valid is None else pc.invert(valid)
        return pa.StructArray.from_arrays(columns, fields=fields, mask=mask)

    return build


def _list_builder(plan: ListPlan) -> Build:
    build_items = column_builder(plan.item)

    def build(array: pa.ListArray, reject: Reject) -> pa.ListArray:
        reject_item = _reject_parent(array, reject)
        items = build_items(array.values, reject_item)
        reject_nulls((plan.field,), [items], None, reject_item)
        return pa.ListArray.from_arrays(array.offsets, items, type=plan.type, mask=_null_mask(array))

    return build


def _map_builder(plan: MapPlan) -> Build:
    build_values = column_builder(plan.value)

    def build(array: pa.MapArray, reject: Reject) -> pa.MapArray:
        reject_entry = _reject_parent(array, reject)
        keys = cast_or_reject(array.keys.view(pa.binary()), pa.string(), reject_entry).fill_null("")
        _reject_repeated_keys(keys, array.offsets.to_numpy(), reject)
        values = build_values(array.items, reject_entry)
        reject_nulls((plan.field,), [values], None, reject_entry)
        return pa.MapArray.from_arrays(array.offsets, keys, values, type=plan.type, mask=_null_mask(array))

    return build


def _text_map_builder(plan: TextMapPlan) -> Build:
    parts = [
        (index, plan.writer.fields[index].name, column_builder(part))
        for index, part in enumerate(plan.parts)
        if not isinstance(part, SkipPlan)
    ]
    names = pa.array([name for _, name, _ in parts], pa.string())

    def build(array: pa.StructArray, reject: Reject) -> pa.MapArray:
        texts = [build_text(array.field(index), reject) for index, _, build_text in parts]
        width, count = len(parts), len(array)
        # From field by field to message by message
        order = np.arange(width * count, dtype=np.int64).reshape(width, count).T.reshape(-1)
        items = pa.concat_arrays([*texts, pa.array([], pa.string())]).take(pa.array(order))
        keys = names.take(pa.array(np.tile(np.arange(width, dtype=np.int64), count)))
        offsets = pa.array(np.arange(count + 1, dtype=np.int32) * width)
        return pa.MapArray.from_arrays(offsets, keys, items, type=plan.type, mask=_null_mask(array))

    return build


def _reject_repeated_keys(keys: pa.StringArray, offsets: np.ndarray, reject: Reject) -> None:
    """Reject maps with a repeated key, whose last value counts."""
    coded = keys.dictionary_encode()
    maps = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    pairs = maps * (len(coded.dictionary) + 1) + coded.indices.to_numpy()
    if pc.count_distinct(pa.array(pairs)).as_py() < len(pairs):
        _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        reject(np.unique(maps[first[counts > 1]]))


def _reject_parent(array: pa.Array, reject: Reject) -> Reject:
    """Return a function that rejects the lists or maps of rejected items."""

    def reject_items(positions: np.ndarray) -> None:
        reject(np.searchsorted(array.offsets.to_numpy(), positions, side="right") - 1)

    return reject_items


def _nullable_builder(plan: UnionPlan) -> Build:
    _, null = split_nullable(plan.writer)
    return column_builder(plan.branches[0 if null else 1])


def _null_builder(plan: NullPlan) -> Build:
    return lambda array, _: pa.nulls(len(array), plan.type)


def _unreadable_builder(plan: UnreadablePlan) -> Build:
    return lambda array, reject: reject_where(array.is_valid(), pa.nulls(len(array), plan.type), reject)


def _null_mask(array: pa.Array) -> pa.BooleanArray | None:
    return array.is_null() if array.null_count else None


_BUILDERS: dict[type, Callable[[Any], Build]] = {
    ScalarPlan: _scalar_builder,
    ListPlan: _list_builder,
    MapPlan: _map_builder,
    TextMapPlan: _text_map_builder,
    RecordPlan: _struct_builder,
    UnionPlan: _nullable_builder,
    NullPlan: _null_builder,
    UnreadablePlan: _unreadable_builder,
}
