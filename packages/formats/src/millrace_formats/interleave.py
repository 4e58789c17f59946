"""Two batches of rows, each in message order, made one in message order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

_FEW = 32


def interleave(
    many: pa.RecordBatch, many_index: np.ndarray, wrong: np.ndarray, few: pa.RecordBatch, few_index: np.ndarray
) -> tuple[pa.RecordBatch, np.ndarray]:
    """Merge the rows of two batches by the index of their messages.

    Args:
        many: Rows of one schema.
        many_index: For each of them the index of its message, int32, never decreasing.
        wrong: The positions of those that are left out, ascending.
        few: Further rows of that schema, of messages that have no other row but those that are left out.
        few_index: For each of those the index of its message, never decreasing.

    Returns:
        The rows of both, and their indexes, never decreasing.
    """
    if len(few_index) + len(wrong) <= _FEW:
        return _spliced(many, many_index, wrong, few, few_index)
    if len(wrong):
        kept = np.ones(many.num_rows, bool)
        kept[wrong] = False
        many, many_index = many.filter(pa.array(kept)), many_index[kept]
    index = np.concatenate([many_index, few_index])
    order = np.argsort(index, kind="stable")
    joined = [pa.concat_arrays(pair) for pair in zip(many.columns, few.columns, strict=True)]
    taken = pa.array(order)
    return pa.RecordBatch.from_arrays([column.take(taken) for column in joined], schema=many.schema), index[order]


def _spliced(
    many: pa.RecordBatch, many_index: np.ndarray, wrong: np.ndarray, few: pa.RecordBatch, few_index: np.ndarray
) -> tuple[pa.RecordBatch, np.ndarray]:
    # a few rows among many: copying the stretches between them is cheaper than gathering every value
    places = np.searchsorted(many_index, few_index)
    stretches = list(_stretches(many.num_rows, places.tolist(), wrong.tolist()))
    columns = [
        pa.concat_arrays([(b if is_few else a)[start:stop] for is_few, start, stop in stretches])
        for a, b in zip(many.columns, few.columns, strict=True)
    ]
    index = np.concatenate([(few_index if is_few else many_index)[start:stop] for is_few, start, stop in stretches])
    return pa.RecordBatch.from_arrays(columns, schema=many.schema), index


def _stretches(count: int, places: list[int], wrong: list[int]) -> Iterator[tuple[bool, int, int]]:
    """What stands one after the other: whether it is of the few, and from where to where."""
    start = 0
    inserted = ((place, False, which) for which, place in enumerate(places))
    for position, is_wrong, which in sorted(chain(inserted, ((place, True, 0) for place in wrong))):
        yield False, start, position
        start = position + is_wrong
        if not is_wrong:
            yield True, which, which + 1
    yield False, start, count
