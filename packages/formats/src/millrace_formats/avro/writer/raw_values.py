"""Convert values of scalar columns to the raw values of Avro's types, and refuse what those cannot hold.

Raw arrays are int64, floats, booleans, binary and, for the symbols of an enum, string; see ``reader.conversions``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import NoReturn, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace_formats.avro.schema.derivation import derived_timestamp
from millrace_formats.avro.schema.model import INT_MAX, INT_MIN, AvroEnum, AvroType, Fixed, Primitive
from millrace_formats.shared.column_casts import cast_or_reject
from millrace_formats.shared.sql_types import INTEGER_BITS

ToRaw = Callable[[pa.Array, "Refuse"], pa.Array]
"""Convert an array, nulls included, to raw values."""

_ARROW_TYPES = {
    "boolean": (pa.bool_(),),
    "float": (pa.float32(),),
    "double": (pa.float32(), pa.float64()),
    "string": (pa.string(),),
    "bytes": (pa.binary(),),
}
_NANOSECONDS = {"millis": 1_000_000, "micros": 1000, "nanos": 1}
_LONG_MAX = (1 << 63) - 1
_MAX_SHOWN = 80

_DECIMAL_BYTES, _WORD_BYTES = 16, 8
_WORD_DIGITS = 18
_MAX_DIGITS = 38
_SIGN_BIT = 0x80


class Refuse(Protocol):
    """Refuse a value that cannot be written."""

    def __call__(self, position: int, reason: str) -> NoReturn:
        """Raise MessageError for the value at a position."""


def to_raw_values(type_: AvroType, column_type: pa.DataType, legacy: bool) -> ToRaw | None:
    """Return the conversion of a scalar column to a type's raw values, or None where there is none.

    Args:
        type_: The Avro type.
        column_type: The column's type.
        legacy: The meaning of a timestamp where the schema has a plain number, see `derive_record`.
    """
    if isinstance(type_, AvroEnum):
        return _to_symbols(type_) if column_type == pa.string() else None
    if pt.is_decimal128(column_type):
        return _to_decimal_bytes(type_, column_type)
    if isinstance(type_, Fixed):
        return _to_fixed(type_, column_type)
    if not isinstance(type_, Primitive):
        return None
    if pt.is_temporal(column_type):
        return _to_time_numbers(type_, column_type, legacy)
    if column_type in INTEGER_BITS and type_.kind in ("int", "long"):
        is_narrowed = (type_.kind, column_type) == ("int", pa.int64())
        return _to_int if is_narrowed else lambda values, _: values.cast(pa.int64())
    if column_type not in _ARROW_TYPES.get(type_.kind, ()):
        return None
    return (lambda values, _: values.cast(pa.float64())) if type_.kind == "double" else (lambda values, _: values)


def refuse_nulls(values: pa.Array, valid: pa.BooleanArray | None, refuse: Refuse) -> None:
    """Refuse the first null of a value that must not be null.

    Args:
        values: The values.
        valid: Where the enclosing struct is not null; None for everywhere.
        refuse: Refuses it.
    """
    if not values.null_count:
        return
    missing = values.is_null() if valid is None else pc.and_(values.is_null(), valid)
    position = pc.index(missing, True).as_py()
    if position >= 0:
        refuse(position, "NULL in a NOT NULL column")


def refuse_parent(refuse: Refuse, offsets: np.ndarray) -> Refuse:
    """Return a function that refuses the list or map of a refused item."""

    def refuse_item(position: int, reason: str) -> NoReturn:
        refuse(int(np.searchsorted(offsets, position, side="right")) - 1, reason)

    return refuse_item


def _refuse_where(mask: pa.BooleanArray, values: pa.Array, refuse: Refuse, reason: Callable[[object], str]) -> None:
    """Refuse the first value where a mask is true."""
    position = pc.index(mask, True).as_py()
    if position >= 0:
        text = str(values[position])
        refuse(position, reason(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."))


def _to_int(values: pa.Int64Array, refuse: Refuse) -> pa.Int64Array:
    unfit = pc.or_(pc.less(values, INT_MIN), pc.greater(values, INT_MAX))
    _refuse_where(unfit, values, refuse, lambda value: f"{value} does not fit int, which has 32 bits")
    return values


def _to_symbols(type_: AvroEnum) -> ToRaw:
    symbols = pa.array(type_.symbols, pa.string())

    def to_raw(values: pa.StringArray, refuse: Refuse) -> pa.StringArray:
        unknown = pc.and_(pc.invert(pc.is_in(values, symbols)), values.is_valid())
        _refuse_where(unknown, values, refuse, lambda value: f"{value!r} is not a symbol of enum {type_.name}")
        return values

    return to_raw


def _to_fixed(type_: Fixed, column_type: pa.DataType) -> ToRaw | None:
    def to_raw(values: pa.BinaryArray, refuse: Refuse) -> pa.BinaryArray:
        unfit = pc.not_equal(pc.binary_length(values), type_.size)
        reason = f"the value does not have the {type_.size} bytes of {type_.name}"
        _refuse_where(unfit, values, refuse, lambda _: reason)
        return values

    if column_type == pa.binary():
        return to_raw
    is_uuid = type_.logical is not None and type_.logical.name == "uuid"
    return _to_uuid_bytes if is_uuid and column_type == pa.string() else None


def _to_uuid_bytes(values: pa.StringArray, refuse: Refuse) -> pa.BinaryArray:
    uuids: list[bytes | None] = []
    for position, text in enumerate(values.to_pylist()):
        try:
            uuids.append(None if text is None else uuid.UUID(text).bytes)
        except ValueError:
            refuse(position, f"{text[:_MAX_SHOWN]!r} is not a UUID")
    return pa.array(uuids, pa.binary())


def _to_time_numbers(type_: Primitive, column_type: pa.DataType, legacy: bool) -> ToRaw | None:
    meaning = _time_meaning(type_, column_type, legacy)
    what, _, unit = meaning.rpartition("-")
    if meaning == "date":
        is_date = pt.is_date32(column_type)
        return (lambda values, _: values.view(pa.int32()).cast(pa.int64())) if is_date else None
    fits = pt.is_time64(column_type) if what == "time" else what.endswith("timestamp") and pt.is_timestamp(column_type)
    if not fits or type_.kind != ("int" if meaning == "time-millis" else "long"):
        return None
    return _to_unit(1 if column_type.unit == "ns" else 1000, _NANOSECONDS[unit], meaning)


def _time_meaning(type_: Primitive, column_type: pa.DataType, legacy: bool) -> str:
    """Return the name of the logical type that a column is written as; empty without one."""
    if type_.logical:
        return type_.logical.name
    if pt.is_timestamp(column_type):
        return derived_timestamp(column_type, legacy).name
    derived = "date" if pt.is_date32(column_type) else "time-millis"
    return derived if type_.kind == "int" else ""


def _to_unit(from_unit: int, to_unit: int, meaning: str) -> ToRaw:
    """Convert between two units, given in nanoseconds, and refuse what the second cannot hold exactly."""

    def to_raw(values: pa.Array, refuse: Refuse) -> pa.Int64Array:
        numbers = values.view(pa.int64())
        if from_unit == to_unit:
            return numbers
        if from_unit > to_unit:
            factor = from_unit // to_unit
            limit = _LONG_MAX // factor
            unfit = pc.or_(pc.greater(numbers, limit), pc.less(numbers, -limit))
            _refuse_where(unfit, values, refuse, lambda value: f"{value} does not fit {meaning}, which has 64 bits")
            return pc.multiply(numbers, factor)
        divisor = to_unit // from_unit
        quotients = pc.divide(numbers, divisor)
        inexact = pc.not_equal(pc.multiply(quotients, divisor), numbers)
        _refuse_where(inexact, values, refuse, lambda value: f"{value} has microseconds, which {meaning} cannot hold")
        return quotients

    return to_raw


def _to_decimal_bytes(type_: AvroType, column_type: pa.Decimal128Type) -> ToRaw | None:
    """Convert decimals to two's complement bytes of the schema's scale: as few as needed, or all of a fixed.

    A type without a logical type takes the column's scale.
    """
    if not isinstance(type_, Fixed) and not (isinstance(type_, Primitive) and type_.kind == "bytes"):
        return None
    if type_.logical is not None and type_.logical.name != "decimal":
        return None
    size = type_.size if isinstance(type_, Fixed) else None
    digits = type_.logical or column_type
    precision, scale = digits.precision, digits.scale
    if scale > _MAX_DIGITS:
        return None
    written_type = pa.decimal128(min(precision, _MAX_DIGITS), scale)

    def to_raw(values: pa.Decimal128Array, refuse: Refuse) -> pa.BinaryArray:
        def reject(positions: np.ndarray) -> None:
            refuse(int(positions[0]), f"{values[int(positions[0])]} does not fit decimal({precision},{scale})")

        if scale == column_type.scale and precision >= column_type.precision:
            return _big_endian(values, size, refuse)
        # A number with more digits behind the point may need more than 128 bits on the way
        wide = values.cast(pa.decimal256(76, column_type.scale))
        numbers = cast_or_reject(cast_or_reject(wide, pa.decimal256(76, scale), reject), written_type, reject)
        return _big_endian(numbers, size, refuse)

    return to_raw


def _big_endian(numbers: pa.Decimal128Array, size: int | None, refuse: Refuse) -> pa.BinaryArray:
    """Return the unscaled values of decimals, big-endian in the fewest bytes, or in ``size`` bytes."""
    count = len(numbers)
    start, end = numbers.offset * _DECIMAL_BYTES, (numbers.offset + count) * _DECIMAL_BYTES
    little_endian = np.frombuffer(numbers.buffers()[1], np.uint8)[start:end]
    # Up to 18 digits fit the lower half
    width = _WORD_BYTES if numbers.type.precision <= _WORD_DIGITS else _DECIMAL_BYTES
    big_endian = little_endian.reshape(count, _DECIMAL_BYTES)[:, :width][:, ::-1]
    sign = np.where(big_endian[:, 0] >= _SIGN_BIT, 0xFF, 0).astype(np.uint8)
    first = _first_significant(big_endian, sign)
    if size is None:
        sizes = width - first
        data = big_endian[np.arange(width) >= first[:, None]]
    else:
        _refuse_longer(numbers, width - first, size, refuse)
        sizes = np.full(count, size)
        padding = np.repeat(sign[:, None], max(size - width, 0), axis=1)
        data = np.concatenate([padding, big_endian[:, -size:]], axis=1)
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    validity = numbers.is_valid().buffers()[1] if numbers.null_count else None
    return pa.Array.from_buffers(pa.binary(), count, [validity, pa.py_buffer(offsets), pa.py_buffer(data.tobytes())])


def _first_significant(big_endian: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Return the index of each number's first byte that is not a mere extension of its sign."""
    differs = big_endian != sign[:, None]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), big_endian.shape[1] - 1)
    needs_sign_byte = (big_endian[np.arange(len(big_endian)), first] >= _SIGN_BIT) != (sign != 0)
    return first - needs_sign_byte


def _refuse_longer(numbers: pa.Decimal128Array, sizes: np.ndarray, size: int, refuse: Refuse) -> None:
    unfit = pc.and_(pa.array(sizes > size), numbers.is_valid())
    position = pc.index(unfit, True).as_py()
    if position >= 0:
        refuse(position, f"{numbers[position]} does not fit {size} bytes")
