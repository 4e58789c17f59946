"""Numbers and booleans of a whole column from text, where that gives exactly what Java's parsers give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.time_columns import Reject, cast_where_possible

_X = ord("x")
_CASE = ord("x") - ord("X")
_BLANKS = "".join(map(chr, range(0x21)))


def parse_integers(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    """Parse integers; positions of other text are rejected."""
    numbers = cast_where_possible(texts, type_, reject)
    if _may_be_hexadecimal(texts):  # which Arrow takes and Java does not
        hexadecimal = pc.or_(pc.match_substring(texts, "x"), pc.match_substring(texts, "X"))
        reject(np.flatnonzero(hexadecimal.fill_null(False).to_numpy(zero_copy_only=False)))
    return numbers


def parse_floats(texts: pa.StringArray, type_: pa.DataType, reject: Reject) -> pa.Array:
    """Parse decimal notation; positions of other text, ``NaN`` and the infinities included, are rejected."""
    numbers = cast_where_possible(texts, type_, reject)
    odd = pc.invert(pc.is_finite(numbers))  # Arrow has more spellings of infinity than Java
    if pc.any(odd).as_py():
        reject(np.flatnonzero(odd.fill_null(False).to_numpy(zero_copy_only=False)))
    return numbers


def parse_booleans(texts: pa.StringArray) -> pa.BooleanArray:
    """True for ``true`` in any case, False for all else."""
    return pc.equal(pc.ascii_lower(pc.utf8_trim(texts, _BLANKS)), "true")


def _may_be_hexadecimal(texts: pa.StringArray) -> bool:
    _, _, data = texts.buffers()
    return data is not None and bool(np.any(np.frombuffer(data, np.uint8) | _CASE == _X))
