"""Convert raw Avro values to values of scalar columns, one at a time and by array, with the same result.

A raw value is what the bytes hold, whatever the logical type: an int for int and long, a float, a bool, bytes for
bytes, string and fixed, and the symbol of an enum. Raw arrays are int64, floats, booleans, binary and, for symbols,
string.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.errors import MalformedMessageError
from millrace_formats.avro.schema.model import AvroEnum, Primitive
from millrace_formats.shared.column_casts import Reject, cast_or_reject
from millrace_formats.shared.sql_times import FIRST_DAY, FIRST_MICROSECOND, LAST_DAY, LAST_MICROSECOND
from millrace_formats.shared.sql_types import INTEGER_BITS, sql_name

_PROMOTIONS = {
    "int": ("float", "double"),
    "long": ("float", "double"),
    "float": ("float", "double"),
    "double": ("double",),
}
_FLOATS = {pa.float32(): "float", pa.float64(): "double"}
_NANOSECONDS = {"millis": 1_000_000, "micros": 1000, "nanos": 1}
_NANOSECONDS_A_DAY = 86_400_000_000_000


@dataclass(frozen=True)
class Conversion:
    """A conversion from raw values to values of a column.

    Attributes:
        value: Converts a raw value to one that ``pa.array`` takes; raises MalformedMessageError.
        array: Converts an array of raw values, nulls included. Values that ``value`` would refuse are rejected and
            become null.
    """

    value: Callable[[Any], Any]
    array: Callable[[pa.Array, Reject], pa.Array]


def reject_where(mask: pa.BooleanArray, array: pa.Array, reject: Reject) -> pa.Array:
    """Reject the values where a mask is true, and make them null; where the mask is null, nothing is rejected."""
    if not pc.any(mask).as_py():
        return array
    reject(np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False)))
    return pc.if_else(mask, pa.scalar(None, array.type), array)


def reject_outside(numbers: pa.Int64Array, low: int, high: int, reject: Reject) -> pa.Int64Array:
    """Reject the numbers below ``low`` or above ``high``, and make them null."""
    bounds = pc.min_max(numbers)
    smallest, largest = bounds["min"].as_py(), bounds["max"].as_py()
    if smallest is None or (low <= smallest and largest <= high):
        return numbers
    return reject_where(pc.or_(pc.less(numbers, low), pc.greater(numbers, high)), numbers, reject)


def number_conversion(kind: str, type_: pa.DataType) -> Conversion | None:
    """Convert boolean, int, long, float or double to a boolean or a number; None where Avro does not promote so."""
    if type_ == pa.bool_():
        return Conversion(lambda value: value, lambda array, _: array) if kind == "boolean" else None
    if type_ in INTEGER_BITS:
        fits = kind == "int" or (kind == "long" and type_ == pa.int64())
        return _integer_conversion(type_) if fits else None
    return _float_conversion(type_) if _FLOATS.get(type_) in _PROMOTIONS.get(kind, ()) else None


def _integer_conversion(type_: pa.DataType) -> Conversion:
    bits, name = INTEGER_BITS[type_], sql_name(type_)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def convert(value: int) -> int:
        if not low <= value <= high:
            raise MalformedMessageError(f"{value} cannot be read as {name}: beyond {bits} bits")
        return value

    def convert_array(numbers: pa.Int64Array, reject: Reject) -> pa.Array:
        return numbers if bits == 64 else reject_outside(numbers, low, high, reject).cast(type_, safe=False)

    return Conversion(convert, convert_array)


def _float_conversion(type_: pa.DataType) -> Conversion:
    def convert(value: Any) -> float:
        # Through the column's own type, so that a value and an array round alike
        number = np.int64(value) if isinstance(value, int) else np.float64(value)
        return float(number.astype(type_.to_pandas_dtype()))

    return Conversion(convert, lambda array, _: array.cast(type_, safe=False))


def string_conversion() -> Conversion:
    """Convert bytes that must be UTF-8 to STRING."""
    return Conversion(decode_text, lambda array, reject: cast_or_reject(array, pa.string(), reject))


def decode_text(value: bytes) -> str:
    """Decode UTF-8.

    Raises:
        MalformedMessageError: The bytes are something else.
    """
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessageError(f"not UTF-8: byte {value[error.start]:#04x} at position {error.start}") from None


def symbol_conversion(symbols: frozenset[str], default: str | None) -> Conversion:
    """Convert a symbol of the writer's schema to STRING.

    Args:
        symbols: The symbols of the reader's schema; empty without one, so that all pass.
        default: The reader's default for other symbols.
    """

    def convert(value: str) -> str:
        if not symbols or value in symbols:
            return value
        if default is None:
            raise MalformedMessageError(
                f"{value!r} is not a symbol of the schema of option 'schema', which has no default"
            )
        return default

    def convert_array(array: pa.StringArray, reject: Reject) -> pa.StringArray:
        if not symbols:
            return array
        unknown = pc.and_(pc.invert(pc.is_in(array, pa.array(sorted(symbols)))), array.is_valid())
        return reject_where(unknown, array, reject)

    return Conversion(convert, convert_array)


def to_string_conversion(type_: Primitive | AvroEnum) -> Conversion | None:
    """Convert integers, booleans, strings and symbols to their text; None for other types."""
    if isinstance(type_, AvroEnum):
        return symbol_conversion(frozenset(), None)
    if type_.kind == "string":
        return string_conversion()
    if type_.kind == "boolean":
        return Conversion(lambda value: "true" if value else "false", lambda array, _: array.cast(pa.string()))
    return Conversion(str, lambda array, _: array.cast(pa.string())) if type_.kind in ("int", "long") else None


def bytes_conversion() -> Conversion:
    """Convert bytes to BINARY, which are the same."""
    return Conversion(lambda value: value, lambda array, _: array)


def uuid_conversion() -> Conversion:
    """Convert the 16 bytes of a UUID to its text."""

    def convert(value: bytes) -> str:
        return str(uuid.UUID(bytes=value))

    def convert_array(array: pa.BinaryArray, _: Reject) -> pa.StringArray:
        values = array.to_numpy(zero_copy_only=False).tolist()
        return pa.array([None if value is None else convert(value) for value in values], pa.string())

    return Conversion(convert, convert_array)


def time_conversion(meaning: str, type_: pa.DataType) -> Conversion | None:
    """Convert a number of a logical type to a date, time or timestamp; None where the two do not match.

    Args:
        meaning: The logical type's name, such as ``timestamp-millis``.
        type_: The column's type. Timestamps with and without a zone are read from both kinds of logical timestamp.
    """
    what, _, unit = meaning.rpartition("-")
    if meaning == "date" and pt.is_date32(type_):
        return _scaled_conversion(type_, FIRST_DAY, LAST_DAY, 1, 1, "the years 0001 to 9999")
    if what == "time" and pt.is_time64(type_):
        nanoseconds = _NANOSECONDS[unit]
        last = _NANOSECONDS_A_DAY // nanoseconds - 1
        return _scaled_conversion(type_, 0, last, nanoseconds, 1 if type_.unit == "ns" else 1000, "a day")
    if what in ("timestamp", "local-timestamp") and pt.is_timestamp(type_):
        nanoseconds = _NANOSECONDS[unit]
        # Nanoseconds of 64 bits span fewer years
        low = max(FIRST_MICROSECOND * 1000 // nanoseconds, -(1 << 63))
        high = min((LAST_MICROSECOND * 1000 + 999) // nanoseconds, (1 << 63) - 1)
        return _scaled_conversion(type_, low, high, nanoseconds, 1000, "the years 0001 to 9999")
    return None


def _scaled_conversion(
    type_: pa.DataType, low: int, high: int, from_unit: int, to_unit: int, bounds: str
) -> Conversion:
    """Convert numbers between two units, given in nanoseconds, and cut off what the column's unit cannot hold."""
    name = sql_name(type_)
    factor, divisor = max(from_unit // to_unit, 1), max(to_unit // from_unit, 1)

    def convert(value: int) -> int:
        if not low <= value <= high:
            raise MalformedMessageError(f"{value} cannot be read as {name}: outside {bounds}")
        return value * factor // divisor

    def convert_array(array: pa.Int64Array, reject: Reject) -> pa.Array:
        numbers = reject_outside(array, low, high, reject)
        if factor > 1:
            numbers = pc.multiply(numbers, factor)
        elif divisor > 1:
            numbers = _floor_divide(numbers, divisor)
        return numbers.cast(pa.int32(), safe=False).view(type_) if pt.is_date32(type_) else numbers.cast(type_)

    return Conversion(convert, convert_array)


def _floor_divide(numbers: pa.Int64Array, divisor: int) -> pa.Int64Array:
    # Arrow's division rounds toward zero
    quotients = pc.divide(numbers, divisor)
    is_too_high = pc.less(pc.subtract(numbers, pc.multiply(quotients, divisor)), 0)
    return pc.subtract(quotients, is_too_high.cast(pa.int64()))
