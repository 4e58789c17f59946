"""Convert Avro's decimals, big-endian two's complement integers, to decimal columns."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MalformedMessageError
from millrace_formats.avro.reader.conversions import Conversion, reject_where
from millrace_formats.shared.column_casts import Reject, cast_or_reject
from millrace_formats.shared.java_text import fit_decimal
from millrace_formats.shared.sql_types import sql_name

_BYTES, _WORD_BYTES = 16, 8
_MAX_BYTES = 100
_SIGN_BIT = 0x80
_DIGITS_128, _DIGITS_256 = 38, 76
# The high 64 bits of 10^38: a number whose high bits are below has 38 digits at most, whatever its sign
_HIGH_LIMIT = 10**_DIGITS_128 >> 64


def decimal_conversion(type_: pa.Decimal128Type, scale: int) -> Conversion:
    """Convert a decimal's bytes, rounded half up to the column's scale.

    Args:
        type_: The column's type.
        scale: The digits behind the point of the writer's numbers; zeros before it where negative.
    """
    name = sql_name(type_)

    def convert(value: bytes) -> Decimal:
        if not 0 < len(value) <= _MAX_BYTES:
            raise MalformedMessageError(f"{len(value)} bytes cannot be read as {name}")
        number = Decimal(f"{int.from_bytes(value, signed=True)}E{-scale}")
        try:
            return fit_decimal(number, type_.precision, type_.scale)
        except ValueError as error:
            raise MalformedMessageError(f"{number} cannot be read as {name}: {error}") from None

    def convert_array(array: pa.BinaryArray, reject: Reject) -> pa.Decimal128Array:
        if scale > _DIGITS_128:
            return reject_where(array.is_valid(), array, reject).cast(pa.string()).cast(type_)
        numbers = _to_decimal128(array, scale, reject)
        if type_.scale <= scale:
            return cast_or_reject(numbers, type_, reject)
        # A number with more digits may need more than 128 bits on the way
        wide = cast_or_reject(numbers, pa.decimal256(_DIGITS_256, type_.scale), reject)
        return cast_or_reject(wide, type_, reject)

    return Conversion(convert, convert_array)


def _to_decimal128(array: pa.BinaryArray, scale: int, reject: Reject) -> pa.Decimal128Array:
    """Return the numbers, and reject those that may have more than 38 digits."""
    starts, sizes, data = _slices(array)
    unfit = (sizes < 1) | (sizes > _BYTES)
    sizes = np.where(unfit, 0, sizes)
    little_endian = (_from_words if sizes.max(initial=0) <= _WORD_BYTES else _from_bytes)(starts, sizes, data)
    high = little_endian.view(np.int64)[:, 1]
    unfit |= (high >= _HIGH_LIMIT) | (high < -_HIGH_LIMIT)
    valid = array.is_valid()
    buffers = [valid.buffers()[1] if array.null_count else None, pa.py_buffer(little_endian)]
    numbers = pa.Array.from_buffers(pa.decimal128(_DIGITS_128, scale), len(array), buffers)
    return reject_where(pc.and_(pa.array(unfit), valid), numbers, reject)


def _slices(array: pa.BinaryArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the start and the size of each value, and the data of all."""
    _, offset_buffer, data_buffer = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[array.offset : array.offset + len(array) + 1]
    has_data = data_buffer is not None and data_buffer.size
    return offsets[:-1], np.diff(offsets), np.frombuffer(data_buffer, np.uint8) if has_data else np.zeros(0, np.uint8)


def _from_words(starts: np.ndarray, sizes: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Do what `_from_bytes` does, faster, for values of up to 8 bytes."""
    padded = np.concatenate([np.zeros(_WORD_BYTES, np.uint8), data])
    ends = (starts + sizes)[:, None]
    words = padded[ends + np.arange(_WORD_BYTES)].view(">i8").reshape(-1).astype(np.int64)
    # The leading bytes belong to other values, and are shifted out
    foreign_bits = (_WORD_BYTES - np.maximum(sizes, 1)) * 8
    numbers = np.where(sizes > 0, words << foreign_bits >> foreign_bits, 0)
    return np.stack([numbers, numbers >> 63], axis=1).view(np.uint8)


def _from_bytes(starts: np.ndarray, sizes: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Return each value as 16 bytes, little-endian and sign-extended; 0 where the size is 0."""
    little_endian = np.zeros((len(starts), _BYTES), np.uint8)
    has_bytes = sizes > 0
    is_negative = data[starts[has_bytes]] >= _SIGN_BIT
    little_endian[has_bytes] = np.where(is_negative, 0xFF, 0).astype(np.uint8)[:, None]
    rows = np.repeat(np.arange(len(starts)), sizes)
    index = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    little_endian[rows, sizes[rows] - 1 - index] = data[starts[rows] + index]
    return little_endian
