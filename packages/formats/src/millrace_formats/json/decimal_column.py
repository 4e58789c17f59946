"""A column of decimals from the raw text of JSON numbers and strings, never through a float."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.json.shapes import NULL
from millrace_formats.shared.number_columns import parse_decimals

_NEWLINE = ord("\n")


def decimals_from_raw(values: list[Any], field: pa.Field, reject: Callable[[np.ndarray], None]) -> pa.Array:
    """Parse raw JSON values.

    Args:
        values: ``msgspec.Raw`` of a number, a string, ``null`` or anything else; None where an outer struct is null.
        field: The column.
        reject: Is told the positions of values that are neither a decimal that fits unrounded nor, where the column may
            be null, ``null``.
    """
    texts = raw_texts([NULL if value is None else value for value in values])
    nulls = pc.equal(texts, "null")
    if not field.nullable:
        _reject_nulls(values, nulls, reject)
    texts = pc.if_else(nulls, pa.scalar(None, pa.string()), texts)
    if pc.any(pc.starts_with(texts, '"')).as_py():
        texts = pc.utf8_trim(texts, '"')
    return parse_decimals(texts, field.type, reject)


def _reject_nulls(values: list[Any], nulls: pa.BooleanArray, reject: Callable[[np.ndarray], None]) -> None:
    places = np.flatnonzero(nulls.to_numpy(zero_copy_only=False))
    unwanted = [place for place in places.tolist() if values[place] is not None]
    if unwanted:
        reject(np.array(unwanted))


def raw_texts(values: list[Any]) -> pa.StringArray:
    """The text of ``msgspec.Raw`` values, as it stands in their messages."""
    joined = np.frombuffer(b"\n".join(values), np.uint8)
    breaks = np.flatnonzero(joined == _NEWLINE)
    if len(breaks) != len(values) - 1:  # an object or array with line breaks, or no values
        return pa.array([bytes(value).decode() for value in values], pa.string())
    offsets = np.empty(len(values) + 1, np.int32)
    offsets[0] = 0
    offsets[1:-1] = breaks - np.arange(len(breaks))
    data = np.delete(joined, breaks)
    offsets[-1] = len(data)
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
