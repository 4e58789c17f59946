"""Merge two batches of rows, each in message order, into one in message order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

_FEW = 32


def merge_by_message(
    many: pa.RecordBatch, many_index: np.ndarray, discard: np.ndarray, few: pa.RecordBatch, few_index: np.ndarray
) -> tuple[pa.RecordBatch, np.ndarray]:
    """Merge the rows of two batches by the index of their messages.

    Args:
        many: Rows of one schema.
        many_index: For each of them the index of its message, int32, never decreasing.
        discard: The rows of ``many`` to leave out, ascending.
        few: Further rows of that schema, of messages that have no other row but discarded ones.
        few_index: For each of those the index of its message, never decreasing.

    Returns:
        The rows of both, and their message indices, never decreasing.
    """
    if len(few_index) + len(discard) <= _FEW:
        return _splice(many, many_index, discard, few, few_index)
    if len(discard):
        keep = np.ones(many.num_rows, bool)
        keep[discard] = False
        many, many_index = many.filter(pa.array(keep)), many_index[keep]
    index = np.concatenate([many_index, few_index])
    order = np.argsort(index, kind="stable")
    columns = [pa.concat_arrays(pair) for pair in zip(many.columns, few.columns, strict=True)]
    arrow_order = pa.array(order)
    return pa.RecordBatch.from_arrays([column.take(arrow_order) for column in columns], schema=many.schema), index[
        order
    ]


def _splice(
    many: pa.RecordBatch, many_index: np.ndarray, discard: np.ndarray, few: pa.RecordBatch, few_index: np.ndarray
) -> tuple[pa.RecordBatch, np.ndarray]:
    # a few rows among many: copying the slices between them is cheaper than gathering every value
    insert_at = np.searchsorted(many_index, few_index)
    slices = list(_slices(many.num_rows, insert_at.tolist(), discard.tolist()))
    columns = [
        pa.concat_arrays([(b if is_few else a)[start:stop] for is_few, start, stop in slices])
        for a, b in zip(many.columns, few.columns, strict=True)
    ]
    index = np.concatenate([(few_index if is_few else many_index)[start:stop] for is_few, start, stop in slices])
    return pa.RecordBatch.from_arrays(columns, schema=many.schema), index


def _slices(count: int, insert_at: list[int], discard: list[int]) -> Iterator[tuple[bool, int, int]]:
    """Yield slices in order: whether it is one of the few, its start and its stop."""
    start = 0
    insertions = ((position, False, row) for row, position in enumerate(insert_at))
    for position, is_discarded, row in sorted(chain(insertions, ((position, True, 0) for position in discard))):
        yield False, start, position
        start = position + is_discarded
        if not is_discarded:
            yield True, row, row + 1
    yield False, start, count
