"""Two batches of rows, each in message order, made one in message order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_FEW = 32


def interleave(
    many: pa.RecordBatch, many_index: np.ndarray, few: pa.RecordBatch, few_index: np.ndarray
) -> tuple[pa.RecordBatch, np.ndarray]:
    """Merge the rows of two batches by the index of their messages.

    Args:
        many: Rows of one schema.
        many_index: For each of them the index of its message, int32, never decreasing.
        few: Further rows of that schema, of other messages.
        few_index: For each of those the index of its message.

    Returns:
        The rows of both, and their indexes, never decreasing.
    """
    index = np.concatenate([many_index, few_index])
    order = np.argsort(index, kind="stable")
    if len(few_index) > _FEW:
        joined = [pa.concat_arrays(pair) for pair in zip(many.columns, few.columns, strict=True)]
        taken = pa.array(order)
        return pa.RecordBatch.from_arrays([column.take(taken) for column in joined], schema=many.schema), index[order]
    # a few rows among many: copying the stretches between them is cheaper than gathering every value
    places = np.searchsorted(many_index, few_index)
    columns = [_spliced(a, b, places) for a, b in zip(many.columns, few.columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=many.schema), index[order]


def _spliced(many: pa.Array, few: pa.Array, places: np.ndarray) -> pa.Array:
    parts, start = [], 0
    for position, place in enumerate(places.tolist()):
        parts += [many[start:place], few[position : position + 1]]
        start = place
    return pa.concat_arrays([*parts, many[start:]])
