"""Casts of a whole column that report the values that cannot be cast, instead of failing."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Reject = Callable[[np.ndarray], None]
"""Takes the indices of values that a fast path cannot convert."""

# Arrow names the first value that it cannot parse in the text of its error, and offers it in no other way.
# Where the text changes, `_cast_by_halves` finds the values, only slower.
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
    """Cast values, rejecting what Arrow does not take and making it null.

    Args:
        values: Text or other values, or null.
        type_: What to cast to.
        reject: Is told the positions that could not be cast.
    """
    for _ in range(_MAX_RETRIES):
        try:
            return values.cast(type_)
        except pa.ArrowInvalid as error:
            wrong = _named(str(error), values)
        if wrong is None:
            break
        reject_where(wrong, reject)
        values = pc.if_else(wrong, pa.scalar(None, values.type), values)
    return _cast_by_halves(values, type_, reject, 0)


def _named(error: str, values: pa.Array) -> pa.BooleanArray | None:
    """Where the value is that Arrow names in its error; None where it names none that is there."""
    named = _QUOTED_VALUE.search(error)
    if named is None or not pa.types.is_string(values.type):
        return None
    found = pc.equal(values, named[1])
    return found if pc.any(found).as_py() else None


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
