"""Decimals of a whole column from text, where Arrow can be trusted with them.

Arrow's cast of text to decimals reads beyond its tables for some exponents (``1e-999999999`` ends the process,
``1e-39`` gives 0), and wraps silently when a number, brought to the column's scale, has more than 128 bits (7 becomes
0.19 in DECIMAL(38,38)). So only plain numbers are given to it, and only so long that they fit, in 256 bits where 128
could be too few.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.time_columns import Reject, cast_where_possible

_DIGITS_128 = 38
_DIGITS_256 = 76
_LONGEST = 41  # 38 digits, a sign, a point and a zero before it


def parse_decimals(texts: pa.StringArray, type_: pa.Decimal128Type, reject: Reject) -> pa.Decimal128Array:
    """Parse numbers without an exponent.

    Args:
        texts: The text, or null.
        type_: The decimal type.
        reject: Is told the positions of all that is not such a number, or does not fit the type unrounded.
    """
    lengths = pc.binary_length(texts)
    odd = pc.or_(pc.greater(lengths, _LONGEST), pc.match_substring(texts, "e", ignore_case=True))
    if pc.any(odd).as_py():
        reject(np.flatnonzero(odd.fill_null(False).to_numpy(zero_copy_only=False)))
        texts = pc.if_else(odd, pa.scalar(None, pa.string()), texts)
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if longest + type_.scale <= _DIGITS_128:
        return cast_where_possible(texts, type_, reject)
    wide = cast_where_possible(texts, pa.decimal256(_DIGITS_256, type_.scale), reject)
    return cast_where_possible(wide, type_, reject)
