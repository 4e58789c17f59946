"""Cast whole columns, reporting the values that cannot be cast instead of failing."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Reject = Callable[[np.ndarray], None]
"""Take the indices of values that a fast path cannot convert."""

# Arrow names the first value that it cannot parse only in the text of its error.
# If that text changes, `_cast_by_halves` still finds the values, only slower.
_QUOTED_VALUE = re.compile("'(.*)'", re.DOTALL)
_MAX_RETRIES = 4


def reject_lists(reject: Reject, offsets: np.ndarray) -> Reject:
    """Make a `Reject` for the elements of lists, which rejects the lists that they are in.

    Args:
        reject: Takes the indices of lists.
        offsets: The offsets of the lists in their elements.
    """
    return lambda indices: reject(np.searchsorted(offsets, indices, side="right") - 1)


def reject_where(mask: pa.BooleanArray, reject: Reject) -> None:
    """Reject the values for which a mask is true; null is false."""
    reject(np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False)))


def cast_or_reject(values: pa.Array, type_: pa.DataType, reject: Reject) -> pa.Array:
    """Cast values; those that Arrow cannot cast are rejected and become null.

    Args:
        values: Text or other values, or null.
        type_: The type to cast to.
        reject: Takes the indices of values that cannot be cast.
    """
    for _ in range(_MAX_RETRIES):
        try:
            return values.cast(type_)
        except pa.ArrowInvalid as error:
            invalid = _value_in_error(str(error), values)
        if invalid is None:
            break
        reject_where(invalid, reject)
        values = pc.if_else(invalid, pa.scalar(None, values.type), values)
    return _cast_by_halves(values, type_, reject, 0)


def _value_in_error(error: str, values: pa.Array) -> pa.BooleanArray | None:
    """Return a mask of the value that Arrow's error names; None when it names none of the values."""
    quoted = _QUOTED_VALUE.search(error)
    if quoted is None or not pa.types.is_string(values.type):
        return None
    mask = pc.equal(values, quoted[1])
    return mask if pc.any(mask).as_py() else None


def _cast_by_halves(values: pa.Array, type_: pa.DataType, reject: Reject, start: int) -> pa.Array:
    try:
        return values.cast(type_)
    except pa.ArrowInvalid:
        if len(values) == 1:
            reject(np.array([start]))
            return pa.nulls(1, type_)
    half = len(values) // 2
    first = _cast_by_halves(values[:half], type_, reject, start)
    return pa.concat_arrays([first, _cast_by_halves(values[half:], type_, reject, start + half)])
