"""The last change of each key of a table."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

_EVENT = "event"


class LastChanges(NamedTuple):
    """The last changes of keys.

    Attributes:
        rows: Indices of the new rows that stay, in their order.
        keys: All keys that changes have, each once.
    """

    rows: pa.Array
    keys: pa.Table


def last_changes(old: pa.Table, old_at: pa.Array, new: pa.Table, new_at: pa.Array) -> LastChanges:
    """Find the last change of each key.

    Args:
        old: The keys of old rows.
        old_at: For each of them, the number of its change.
        new: The keys of new rows, with the same columns.
        new_at: For each of them, the number of its change.
    """
    # A change removes its old row before it adds its new one: even numbers remove, odd ones add
    removed = pc.multiply(old_at, 2)
    added = pc.add(pc.multiply(new_at, 2), 1)
    names = old.column_names
    keys = pa.concat_tables([old, new]).append_column(
        _EVENT, pa.chunked_array([removed.cast(pa.int64()), added.cast(pa.int64())])
    )
    last = keys.group_by(names, use_threads=False).aggregate([(_EVENT, "max")])
    events = last.column(f"{_EVENT}_max")
    kept = events.filter(pc.equal(pc.bit_wise_and(events, 1), 1))
    changes = pc.shift_right(kept, 1)
    rows = pc.index_in(changes, value_set=new_at.cast(pa.int64()))
    return LastChanges(_sorted(rows), last.select(names))


def _sorted(rows: pa.ChunkedArray) -> pa.Array:
    combined = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
    return combined.take(pc.array_sort_indices(combined))
