"""Decimals of Avro, which are whole numbers as bytes in two's complement, the highest first, as columns have them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MalformedMessageError
from millrace_formats.avro.conversion import Conversion, Reject, reject_where
from millrace_formats.shared.column_casts import cast_or_reject
from millrace_formats.shared.java_text import fit_decimal
from millrace_formats.shared.sql_types import sql_name

_WIDTH, _WORD = 16, 8
_LONGEST = 100
_SIGN = 0x80
_DIGITS_128, _DIGITS_256 = 38, 76
# The high 64 bits of 10^38: numbers that have fewer there, whatever their sign, have 38 digits at most
_HIGH = 10**_DIGITS_128 >> 64


def decimal_conversion(type_: pa.Decimal128Type, scale: int) -> Conversion:
    """From a decimal's bytes to a column, rounded half up to its scale.

    Args:
        type_: The column's type.
        scale: How many of the digits are behind the point.
    """
    name = sql_name(type_)

    def one(value: bytes) -> Decimal:
        if not 0 < len(value) <= _LONGEST:
            raise MalformedMessageError(f"{len(value)} bytes are not a {name}")
        number = Decimal(f"{int.from_bytes(value, signed=True)}E-{scale}")
        try:
            return fit_decimal(number, type_.precision, type_.scale)
        except ValueError as error:
            raise MalformedMessageError(f"{number} is not a {name}: {error}") from None

    def column(values: pa.BinaryArray, reject: Reject) -> pa.Decimal128Array:
        if scale > _DIGITS_128:
            return reject_where(values.is_valid(), values, reject).cast(pa.string()).cast(type_)
        numbers = _decimals(values, scale, reject)
        if type_.scale <= scale:
            return cast_or_reject(numbers, type_, reject)
        # With more digits a number may need more than 128 bits on the way
        wide = cast_or_reject(numbers, pa.decimal256(_DIGITS_256, type_.scale), reject)
        return cast_or_reject(wide, type_, reject)

    return Conversion(one, column)


def _decimals(values: pa.BinaryArray, scale: int, reject: Reject) -> pa.Decimal128Array:
    """The numbers, null for those that do not surely have 38 digits at most, which are rejected."""
    starts, lengths, data = _parts(values)
    odd = (lengths < 1) | (lengths > _WIDTH)
    lengths = np.where(odd, 0, lengths)
    little = (_from_words if lengths.max(initial=0) <= _WORD else _from_octets)(starts, lengths, data)
    high = little.view(np.int64)[:, 1]
    odd |= (high >= _HIGH) | (high < -_HIGH)
    valid = values.is_valid()
    buffers = [valid.buffers()[1] if values.null_count else None, pa.py_buffer(little)]
    numbers = pa.Array.from_buffers(pa.decimal128(_DIGITS_128, scale), len(values), buffers)
    return reject_where(pc.and_(pa.array(odd), valid), numbers, reject)


def _parts(values: pa.BinaryArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each value starts, how long it is, and the bytes of all."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    found = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return ends[:-1], np.diff(ends), found


def _from_words(starts: np.ndarray, lengths: np.ndarray, data: np.ndarray) -> np.ndarray:
    """As `_from_octets`, of values that have 8 bytes at most."""
    padded = np.concatenate([np.zeros(_WORD, np.uint8), data])
    words = padded[(starts + lengths)[:, None] + np.arange(_WORD)].view(">i8").reshape(-1).astype(np.int64)
    # What is before a value belongs to others, and is shifted out
    above = (_WORD - np.maximum(lengths, 1)) * 8
    numbers = np.where(lengths > 0, words << above >> above, 0)
    return np.stack([numbers, numbers >> 63], axis=1).view(np.uint8)


def _from_octets(starts: np.ndarray, lengths: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The values as 16 bytes each, the lowest first, with their sign continued; 0 where the length is 0."""
    little = np.zeros((len(starts), _WIDTH), np.uint8)
    there = lengths > 0
    little[there] = np.where(data[starts[there]] >= _SIGN, 0xFF, 0).astype(np.uint8)[:, None]
    rows = np.repeat(np.arange(len(starts)), lengths)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    little[rows, lengths[rows] - 1 - within] = data[starts[rows] + within]
    return little
