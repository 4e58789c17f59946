"""The final states of keys: what a sink writes that keeps the rows of keys."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from millrace_cdc.connectors.table_changes.changed_keys import changed_keys
from millrace_cdc.connectors.table_changes.kept_values import with_earlier_values
from millrace_cdc.connectors.table_changes.row_images import ChangeError


class FinalChanges(NamedTuple):
    """The final states of the keys of some changes, each in one of two tables with the columns of changes.

    Attributes:
        upserts: The changes whose new row, in ``after``, is the last one of its key; in their order. It lacks those of
            the columns in ``kept`` that no earlier row of the key has: the table keeps its values.
        deletes: The changes whose old row, in ``before``, was the last one of a key that has none any more.
    """

    upserts: pa.Table
    deletes: pa.Table


def final_changes(changes: pa.Table, key: pa.Schema) -> FinalChanges:
    """Fold the changes of a table into the final states of its keys.

    Args:
        changes: Changes in order, with the columns of `ChangeBatch.map`.
        key: The columns of the primary key, as of `key_schema`; none for a table that only gets insertions.

    Raises:
        ChangeError: A key has a NULL, or a table without primary key has an update or a deletion.
    """
    if not key.names:
        _check_insertions(changes)
        return FinalChanges(changes, changes.slice(0, 0))
    changes = with_earlier_values(changes, key)
    keys = changed_keys(changes, key)
    # A change removes its old row before it adds its new one: even numbers remove, odd ones add
    events = pa.concat_arrays([pc.multiply(keys.old, 2), pc.add(pc.multiply(keys.new, 2), 1)])
    last = _last_events(keys.columns, events)
    adds = pc.equal(pc.bit_wise_and(last, 1), 1)
    return FinalChanges(*(_take(changes, last.filter(which)) for which in (adds, pc.invert(adds))))


def _last_events(keys: list[pa.ChunkedArray], events: pa.Int64Array) -> pa.Array:
    # Columns of keys may have any names
    names = [f"key{index}" for index in range(len(keys))]
    table = pa.table([*keys, events], [*names, "event"])
    last = table.group_by(names, use_threads=False).aggregate([("event", "max")]).column("event_max")
    return last.combine_chunks()


def _take(changes: pa.Table, events: pa.Array) -> pa.Table:
    numbers = pc.shift_right(events, 1)
    return changes.take(numbers.take(pc.array_sort_indices(numbers)))


def _check_insertions(changes: pa.Table) -> None:
    others = pc.indices_nonzero(pc.not_equal(changes.column("operation"), "c"))
    if len(others):
        raise ChangeError.at(
            changes,
            others[0].as_py(),
            "the table has no primary key, so that rows can only be added, and this is an update or a deletion: give "
            "its key by 'primary-keys' in a transform",
        )
