"""From columns of decimals to the bytes that Avro has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.avro.model import AvroType, Fixed, Scalar
from millrace_formats.shared.column_casts import cast_or_reject

if TYPE_CHECKING:
    from millrace_formats.avro.raw_values import Raw, Refuse

_WIDTH, _WORD = 16, 8
_WORD_DIGITS = 18
_SIGN = 0x80
_DIGITS = 38


def raw_decimals(type_: AvroType, of: pa.Decimal128Type) -> Raw | None:
    """How decimals become bytes, of the schema's scale: as few as hold the number, or all of a fixed.

    Args:
        type_: Bytes or fixed; a decimal, or without a meaning, for the column's scale.
        of: The column's type.
    """
    if not isinstance(type_, Fixed) and not (isinstance(type_, Scalar) and type_.kind == "bytes"):
        return None
    if type_.logical is not None and type_.logical.name != "decimal":
        return None
    size = type_.size if isinstance(type_, Fixed) else None
    precision, scale = (type_.logical.precision, type_.logical.scale) if type_.logical else (of.precision, of.scale)
    if scale > _DIGITS:
        return None
    kind = pa.decimal128(min(precision, _DIGITS), scale)

    def raw(values: pa.Decimal128Array, refuse: Refuse) -> pa.BinaryArray:
        def reject(positions: np.ndarray) -> None:
            refuse(int(positions[0]), f"{values[int(positions[0])]} does not fit decimal({precision},{scale})")

        if scale == of.scale and precision >= of.precision:
            return _octets(values, size, refuse)
        # With more digits behind the point a number may need more than 128 bits on the way
        wide = values.cast(pa.decimal256(76, of.scale))
        numbers = cast_or_reject(cast_or_reject(wide, pa.decimal256(76, scale), reject), kind, reject)
        return _octets(numbers, size, refuse)

    return raw


def _octets(numbers: pa.Decimal128Array, size: int | None, refuse: Refuse) -> pa.BinaryArray:
    count = len(numbers)
    little = np.frombuffer(numbers.buffers()[1], np.uint8)[numbers.offset * _WIDTH : (numbers.offset + count) * _WIDTH]
    # Up to 18 digits are in the lower half
    width = _WORD if numbers.type.precision <= _WORD_DIGITS else _WIDTH
    big = little.reshape(count, _WIDTH)[:, :width][:, ::-1]
    sign = np.where(big[:, 0] >= _SIGN, 0xFF, 0).astype(np.uint8)
    first = _first_needed(big, sign)
    valid = numbers.is_valid()
    if size is None:
        lengths = width - first
        data = big[np.arange(width) >= first[:, None]]
    else:
        _check_size(numbers, width - first, size, refuse)
        lengths = np.full(count, size)
        data = np.concatenate([np.repeat(sign[:, None], max(size - width, 0), axis=1), big[:, -size:]], axis=1)
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [valid.buffers()[1] if numbers.null_count else None, pa.py_buffer(offsets), pa.py_buffer(data.tobytes())]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def _first_needed(big: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """For each number the first of its bytes that is not just its sign continued."""
    differs = big != sign[:, None]
    first = np.where(differs.any(axis=1), differs.argmax(axis=1), big.shape[1] - 1)
    wrong_sign = (big[np.arange(len(big)), first] >= _SIGN) != (sign != 0)
    return first - wrong_sign


def _check_size(numbers: pa.Decimal128Array, lengths: np.ndarray, size: int, refuse: Refuse) -> None:
    wrong = pc.and_(pa.array(lengths > size), numbers.is_valid())
    index = pc.index(wrong, True).as_py()
    if index >= 0:
        refuse(index, f"{numbers[index]} does not fit {size} bytes")
