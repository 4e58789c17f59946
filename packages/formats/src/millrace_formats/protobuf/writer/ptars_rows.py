"""Convert columns to the batches that ptars writes.

A value that cannot be written is an error that names the column and the row. Rows that ptars would write otherwise than
protobuf's own library are reported to their `ValuePath`.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.protobuf.ptars.wire_type import oneof_members, wire_arrow_type
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
from millrace_formats.protobuf.schema.values import MICROS, numbers_by_name
from millrace_formats.protobuf.writer.value_path import ValuePath
from millrace_formats.shared.sql_times import FIRST_MICROSECOND, LAST_MICROSECOND

_BOUNDS = {
    pa.int32(): (-(1 << 31), (1 << 31) - 1),
    pa.uint32(): (0, (1 << 32) - 1),
    pa.uint64(): (0, (1 << 64) - 1),
}


class PtarsRows:
    """Convert columns for ptars.

    Args:
        null_text: The text to write for a NULL STRING in an array or map.
    """

    def __init__(self, null_text: str) -> None:
        self._null_text = null_text

    def struct(self, struct: Struct, rows: pa.StructArray, path: ValuePath, *, fill: bool = False) -> pa.StructArray:
        """Convert structs; with ``fill`` null ones become messages without fields.

        Raises:
            MessageError: A value cannot be written.
        """
        if not struct.fields:
            return rows
        # unlike field, flatten makes the fields of a null struct null
        children = dict(zip((field.name for field in struct.fields), rows.flatten(), strict=True))
        _report_contested_oneofs(struct, children, path)
        is_written = rows.is_valid() if not fill else pa.repeat(True, len(rows))
        columns = []
        for field in struct.fields:
            column, field_path = children[field.name], path.field(field.name)
            if field.proto.is_required:
                field_path.refuse(pc.and_(column.is_null(), is_written), column, "is not for a field that is required")
            columns.append(self._field(field, column, field_path))
        mask = None if fill or not rows.null_count else rows.is_null()
        return pa.StructArray.from_arrays(columns, fields=list(wire_arrow_type(struct)), mask=mask)

    def _field(self, field: MessageField, column: pa.Array, path: ValuePath) -> pa.Array:
        match field.value:
            case RepeatedValue(element):
                lists = _lists(column)
                element_path = path.elements("element", lists.offsets.to_numpy())
                elements = self._single(element, lists.values, element_path, fill=True)
                return pa.ListArray.from_arrays(lists.offsets, elements, type=wire_arrow_type(field.value))
            case MapValue(key, item, type_):
                entry = pa.struct([("key", type_.key_type), ("value", type_.item_type)])
                lists = _lists(column.cast(pa.list_(entry)))
                element_path = path.elements("value", lists.offsets.to_numpy())
                keys = self._single(key, lists.values.field(0), element_path, fill=False)
                items = self._single(item, lists.values.field(1), element_path, fill=True)
                list_type = wire_arrow_type(field.value)
                entries = pa.StructArray.from_arrays([keys, items], fields=list(list_type.value_type))
                return pa.ListArray.from_arrays(lists.offsets, entries, type=list_type)
            case value:
                return self._single(value, column, path, fill=False)

    def _single(self, value: Single, column: pa.Array, path: ValuePath, *, fill: bool) -> pa.Array:
        """Convert single values; with ``fill`` a NULL becomes what protobuf has in its place."""
        match value:
            case ScalarValue():
                raw = _scalar(value, column, path)
                return raw.fill_null(pa.scalar(self._instead_of_null(raw.type), raw.type)) if fill else raw
            case EnumValue():
                raw = _enum(value, column, path)
                return raw.fill_null(value.proto.enum_type.values[0].number) if fill else raw
            case Wrapped(inner):
                raw = _scalar(inner, column, path)
                return _message([raw.fill_null(pa.scalar(_zero(raw.type), raw.type))], value, column, fill)
            case Instant():
                return _message(_instant(column, path), value, column, fill)
            case Struct():
                return self.struct(value, column, path, fill=fill)

    def _instead_of_null(self, type_: pa.DataType) -> object:
        return self._null_text if type_ == pa.string() else _zero(type_)


def _zero(type_: pa.DataType) -> object:
    return {pa.string(): "", pa.binary(): b"", pa.bool_(): False}.get(type_, 0)


def _report_contested_oneofs(struct: Struct, children: dict[str, pa.Array], path: ValuePath) -> None:
    """Report rows with several members of a oneof: only the last column is written, and ptars would write all."""
    for members in oneof_members(struct):
        columns = [children[member.name] for member in members if member.name in children]
        if len(columns) > 1:
            present = np.sum([_mask(column.is_valid()) for column in columns], axis=0)
            path.needs_exact(present > 1)


def _scalar(value: ScalarValue, column: pa.Array, path: ValuePath) -> pa.Array:
    type_ = wire_arrow_type(value)
    if pt.is_floating(type_) and _leaves_out_zeros(value):
        # ptars leaves out a negative zero as it does 0
        numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
        path.needs_exact((numbers == 0) & np.signbit(numbers))
    if column.type == type_:
        return column
    if pt.is_integer(column.type) and column.type.bit_width == type_.bit_width:
        return column.view(type_)
    _check_bounds(column, type_, value.proto.full_name, path)
    return column.cast(type_)


def _leaves_out_zeros(value: ScalarValue) -> bool:
    proto = value.proto
    return not proto.is_repeated and (not proto.has_presence or proto.containing_type.GetOptions().map_entry)


def _check_bounds(column: pa.Array, type_: pa.DataType, field: str, path: ValuePath) -> None:
    low, high = (pa.scalar(_as(column.type, bound), column.type) for bound in _BOUNDS[type_])
    outside = pc.or_(pc.less(column, low), pc.greater(column, high))
    path.refuse(outside, column, f"is beyond what field {field} holds")


def _as(type_: pa.DataType, number: int) -> int | Decimal:
    return Decimal(number) if pt.is_decimal(type_) else number


def _enum(value: EnumValue, column: pa.Array, path: ValuePath) -> pa.Array:
    enum = value.proto.enum_type
    numbers = numbers_by_name(enum)
    if column.type == pa.string():
        index = pc.index_in(column, value_set=pa.array(numbers.keys(), pa.string()))
        unknown = pc.and_(index.is_null(), column.is_valid())
        path.refuse(unknown, column, f"is not a value of enum {enum.full_name}, which has {', '.join(numbers)}")
        return pa.array(numbers.values(), pa.int32()).take(index)
    if enum.is_closed:
        in_enum = pc.is_in(column, value_set=pa.array(numbers.values(), column.type))
        unknown = pc.and_(pc.invert(in_enum), column.is_valid())
        path.refuse(unknown, column, f"is not a number of the closed enum {enum.full_name}")
    if column.type != pa.int32():
        _check_bounds(column, pa.int32(), value.proto.full_name, path)
    return column.cast(pa.int32())


def _instant(column: pa.TimestampArray, path: ValuePath) -> list[pa.Array]:
    micros = column.view(pa.int64())
    outside = pc.or_(pc.less(micros, FIRST_MICROSECOND), pc.greater(micros, LAST_MICROSECOND))
    path.refuse(outside, micros, "microseconds since 1970 are outside the years 0001 to 9999")
    numbers = micros.fill_null(0).to_numpy(zero_copy_only=False)
    seconds, rest = np.divmod(numbers, MICROS)
    return [pa.array(seconds), pa.array((rest * 1000).astype(np.int32))]


def _message(parts: list[pa.Array], value: Wrapped | Instant, column: pa.Array, fill: bool) -> pa.StructArray:
    """Make messages of their fields, null where a column is null."""
    mask = None if fill or not column.null_count else column.is_null()
    return pa.StructArray.from_arrays(parts, fields=list(wire_arrow_type(value)), mask=mask)


def _lists(column: pa.ListArray) -> pa.ListArray:
    """Return the lists, null ones empty, from offset 0 on and without values between them."""
    lengths = pc.list_value_length(column).fill_null(0).to_numpy()
    offsets = np.zeros(len(column) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), column.flatten())


def _mask(values: pa.BooleanArray) -> np.ndarray:
    mask: np.ndarray = values.to_numpy(zero_copy_only=False)
    return mask
