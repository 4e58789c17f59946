"""Parse whole columns of numbers and booleans, rejecting text that Java's parsers read otherwise.

Arrow's cast of text to decimals reads beyond its tables for some exponents (``1e-999999999`` ends the process,
``1e-39`` gives 0), and wraps silently when a number, brought to the column's scale, has more than 128 bits (7 becomes
0.19 in DECIMAL(38,38)). So `parse_decimals` gives it plain numbers only, and only so long that they fit, in 256 bits
where 128 could be too few.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.shared.column_casts import Reject, cast_or_reject, reject_where

_LOWER_X = ord("x")
_CASE_BIT = ord("x") - ord("X")
_BLANKS = "".join(map(chr, range(0x21)))
_DIGITS_128 = 38
_DIGITS_256 = 76
_MAX_LENGTH = 41  # 38 digits, a sign, a point and a zero before it


def parse_integers(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    """Parse integers; other text is rejected."""
    numbers = cast_or_reject(texts, type_, reject)
    if _may_be_hexadecimal(texts):  # which Arrow takes and Java does not
        hexadecimal = pc.or_(pc.match_substring(texts, "x"), pc.match_substring(texts, "X"))
        reject_where(hexadecimal, reject)
    return numbers


def parse_floats(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    """Parse decimal notation; other text, ``NaN`` and the infinities included, is rejected."""
    numbers = cast_or_reject(texts, type_, reject)
    not_finite = pc.invert(pc.is_finite(numbers))  # Arrow has more spellings of infinity than Java
    if pc.any(not_finite).as_py():
        reject_where(not_finite, reject)
    return numbers


def parse_booleans(texts: pa.StringArray) -> pa.BooleanArray:
    """Parse ``true`` in any case as True, all else as False."""
    return pc.equal(pc.ascii_lower(pc.utf8_trim(texts, _BLANKS)), "true")


def parse_true_numbers(texts: pa.StringArray) -> pa.BooleanArray:
    """Parse integers other than 0 as True, all else as False."""
    return pc.match_substring_regex(pc.utf8_trim(texts, _BLANKS), "^[+-]?0*[1-9][0-9]*$")


def parse_decimals(texts: pa.StringArray, type_: pa.Decimal128Type, reject: Reject) -> pa.Decimal128Array:
    """Parse numbers without an exponent.

    Args:
        texts: The text, or null.
        type_: The decimal type.
        reject: Takes the indices of text that is not such a number, or does not fit the type unrounded.
    """
    lengths = pc.binary_length(texts)
    unsafe = pc.or_(pc.greater(lengths, _MAX_LENGTH), pc.match_substring(texts, "e", ignore_case=True))
    if pc.any(unsafe).as_py():
        reject_where(unsafe, reject)
        texts = pc.if_else(unsafe, pa.scalar(None, pa.string()), texts)
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest + type_.scale <= _DIGITS_128:
        return cast_or_reject(texts, type_, reject)
    wide = cast_or_reject(texts, pa.decimal256(_DIGITS_256, type_.scale), reject)
    return cast_or_reject(wide, type_, reject)


def _may_be_hexadecimal(texts: pa.StringArray) -> bool:
    _, _, data = texts.buffers()
    return data is not None and bool(np.any(np.frombuffer(data, np.uint8) | _CASE_BIT == _LOWER_X))
