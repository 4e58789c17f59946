"""A way to turn what Avro holds into a column's values, for one value and for many.

Both sides start from the raw value of the wire: a whole number for int and long (and what is built on them), a float, a
boolean, bytes for bytes, string and fixed, and the symbol of an enum. Many values come as an array of int64, of floats
or booleans, of bytes or, for symbols, of text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Reject = Callable[[np.ndarray], None]
"""Is told the positions of values that are errors."""


@dataclass(frozen=True)
class Conversion:
    """From raw values to values of a column.

    Attributes:
        one: Converts a raw value to one that ``pa.array`` takes; raises MalformedMessageError.
        column: Converts an array of them, in which any may be null. What `one` would not convert is rejected and null.
    """

    one: Callable[[Any], Any]
    column: Callable[[pa.Array, Reject], pa.Array]


def reject_where(wrong: pa.BooleanArray, array: pa.Array, reject: Reject) -> pa.Array:
    """The array with nulls where it is wrong, which is rejected; where it is null nothing is wrong."""
    if not pc.any(wrong).as_py():
        return array
    reject(np.flatnonzero(wrong.fill_null(False).to_numpy(zero_copy_only=False)))
    return pc.if_else(wrong, pa.scalar(None, array.type), array)


def reject_outside(numbers: pa.Int64Array, low: int, high: int, reject: Reject) -> pa.Int64Array:
    """The numbers, with nulls for those below ``low`` or above ``high``, which are rejected."""
    bounds = pc.min_max(numbers)
    lowest, highest = bounds["min"].as_py(), bounds["max"].as_py()
    if lowest is None or (low <= lowest and highest <= high):
        return numbers
    return reject_where(pc.or_(pc.less(numbers, low), pc.greater(numbers, high)), numbers, reject)
