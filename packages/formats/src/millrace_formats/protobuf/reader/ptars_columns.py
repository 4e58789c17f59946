"""Convert the batches that ptars reads to columns, rejecting values that the exact reader reads otherwise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.protobuf.ptars.wire_type import oneof_members, wire_name
from millrace_formats.protobuf.schema.fields import (
    EnumValue,
    Instant,
    MapValue,
    MessageField,
    RepeatedValue,
    ScalarValue,
    Single,
    Struct,
    Wrapped,
)
from millrace_formats.protobuf.schema.values import (
    FIRST_SECOND,
    LAST_NANO,
    LAST_SECOND,
    MICROS,
    UNRECOGNIZED,
    names_by_number,
)
from millrace_formats.shared.column_casts import Reject, reject_lists, reject_where


def struct_columns(struct: Struct, wire: pa.StructArray, reject: Reject) -> list[pa.Array]:
    """Convert a struct's fields to columns.

    Args:
        struct: The struct.
        wire: Its messages as ptars reads them; the fields of a null message have any values.
        reject: Takes the indices of messages for the exact reader.
    """
    _reject_contested_oneofs(struct, wire, reject)
    return [_field_column(field, wire, reject) for field in struct.fields]


def _field_column(field: MessageField, wire: pa.StructArray, reject: Reject) -> pa.Array:
    raw = wire.field(wire_name(field.proto))
    match field.value:
        case RepeatedValue(element, type_):
            outer = reject_lists(reject, raw.offsets.to_numpy())
            elements = _single(element, raw.values, outer, fill=False)
            column = pa.ListArray.from_arrays(raw.offsets, elements, type=type_, mask=_null_if_empty(field, raw))
        case MapValue(key, item, type_):
            outer = reject_lists(reject, raw.offsets.to_numpy())
            keys = _single(key, raw.values.field("f1"), outer, fill=True)
            items = _single(item, raw.values.field("f2"), outer, fill=True)
            _reject_repeated_keys(keys, raw.offsets.to_numpy(), reject)
            column = pa.MapArray.from_arrays(raw.offsets, keys, items, type=type_, mask=_null_if_empty(field, raw))
        case value:
            column = _single(value, raw, reject, fill=field.reads_default)
    if column.null_count and not field.nullable:
        reject_where(pc.and_(column.is_null(), wire.is_valid()), reject)
    return column


def _single(value: Single, raw: pa.Array, reject: Reject, *, fill: bool) -> pa.Array:
    """Convert a column of single values; with ``fill`` absent ones are their field's default."""
    match value:
        case ScalarValue(proto, type_):
            return _scalar(raw.fill_null(_default(proto.default_value, raw)) if fill else raw, type_)
        case EnumValue(proto):
            return _enum(value, raw.fill_null(_default(proto.default_value, raw)) if fill else raw, reject)
        case Wrapped(inner):
            return _masked(_scalar(raw.field(0), inner.type), None if fill else raw)
        case Instant(type_):
            return _masked(_instants(raw, reject).view(type_), None if fill else raw)
        case Struct(type=type_):
            columns = struct_columns(value, raw, reject)
            mask = None if fill or not raw.null_count else raw.is_null()
            return pa.StructArray.from_arrays(columns, fields=list(type_), mask=mask)


def _default(value: object, raw: pa.Array) -> pa.Scalar:
    return pa.scalar(value, raw.type)


def _scalar(raw: pa.Array, type_: pa.DataType) -> pa.Array:
    if raw.type == type_:
        return raw
    if pa.types.is_integer(type_) and type_.bit_width == raw.type.bit_width:
        return raw.view(type_)
    return raw.cast(type_)


def _enum(value: EnumValue, raw: pa.Array, reject: Reject) -> pa.Array:
    enum = value.proto.enum_type
    names = names_by_number(enum)
    if value.type != pa.string() and not enum.is_closed:
        return raw.cast(value.type)
    index = pc.index_in(raw, value_set=pa.array(names.keys(), pa.int32()))
    unknown = pc.and_(index.is_null(), raw.is_valid())
    if enum.is_closed and pc.any(unknown).as_py():
        # by protobuf's rules, the message does not have such a value
        reject_where(unknown, reject)
    if value.type != pa.string():
        return raw.cast(value.type)
    index = pc.if_else(unknown, pa.scalar(len(names), pa.int32()), index)
    return pa.array([*names.values(), UNRECOGNIZED]).take(index)


def _instants(raw: pa.StructArray, reject: Reject) -> pa.Int64Array:
    """Return microseconds; any number where the timestamp is null or out of range."""
    seconds, nanos = (raw.field(index).to_numpy(zero_copy_only=False) for index in range(2))
    in_range = (seconds >= FIRST_SECOND) & (seconds <= LAST_SECOND) & (nanos >= 0) & (nanos <= LAST_NANO)
    if not in_range.all():
        reject(np.flatnonzero(~in_range & _as_mask(raw.is_valid())))
        seconds = np.where(in_range, seconds, 0)
    return pa.array(seconds * MICROS + nanos // 1000)


def _masked(column: pa.Array, raw: pa.StructArray | None) -> pa.Array:
    """Make a column NULL where a struct is null."""
    if raw is None or not raw.null_count:
        return column
    return pc.if_else(raw.is_valid(), column, pa.scalar(None, column.type))


def _null_if_empty(field: MessageField, raw: pa.ListArray) -> pa.BooleanArray | None:
    """Return a mask of lists that are NULL since they have no elements; None when there are none."""
    empty = np.diff(raw.offsets.to_numpy()) == 0
    return pa.array(empty) if not field.reads_default and empty.any() else None


def _reject_repeated_keys(keys: pa.Array, offsets: np.ndarray, reject: Reject) -> None:
    lengths = np.diff(offsets)
    if not (lengths > 1).any():
        return
    owners = np.repeat(np.arange(len(lengths)), lengths)
    codes = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
    pairs = owners * (int(codes.max()) + 1) + codes
    order = np.argsort(pairs, kind="stable")
    repeated = np.flatnonzero(np.diff(pairs[order]) == 0)
    if len(repeated):
        reject(np.unique(owners[order[repeated]]))


def _reject_contested_oneofs(struct: Struct, wire: pa.StructArray, reject: Reject) -> None:
    """Reject messages with several members of a oneof: the last one counts, and ptars does not keep their order."""
    for members in oneof_members(struct):
        present = sum(_as_mask(wire.field(wire_name(member)).is_valid()).astype(np.int8) for member in members)
        if (contested := np.flatnonzero(present > 1)).size:
            reject(contested)


def _as_mask(values: pa.BooleanArray) -> np.ndarray:
    mask: np.ndarray = values.to_numpy(zero_copy_only=False)
    return mask
