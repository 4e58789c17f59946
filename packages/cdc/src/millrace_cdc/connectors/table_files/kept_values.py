"""Values that updates leave as they were and lack: from earlier changes of a micro-batch, and from the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from millrace_cdc.rows.arrow_rows import RowError
from millrace_cdc.rows.change_records import kept_columns, row_images
from millrace_cdc.rows.compiled_readers import object_reader
from millrace_cdc.rows.kept_values import check_same_key, with_kept_values

PARTIAL_KEY_COLUMNS = "table STRING, key BINARY, kept ARRAY<STRING>"
"""The columns of `partial_keys`."""


def partial_keys(batches: Iterable[pa.RecordBatch], keys: Mapping[str, Sequence[str]]) -> Iterator[pa.RecordBatch]:
    """Yield the keys, as JSON objects, of the rows of some tables that lack values, and the columns of these.

    Args:
        batches: Changes with the columns of `ChangeBatch.map`.
        keys: The columns of the tables' primary keys.
    """
    readers = {name: object_reader(key) for name, key in keys.items()}
    for batch in batches:
        kept = kept_columns(batch)
        tables, afters = batch.column("table").to_pylist(), row_images(batch)[1]
        found = [
            (tables[index], readers[tables[index]](afters[index]), names)
            for index, names in kept.items()
            if tables[index] in readers
        ]
        if found:
            names, texts, columns = zip(*found, strict=True)
            yield pa.record_batch(
                {
                    "table": pa.array(names, pa.string()),
                    "key": pa.array(texts, pa.binary()),
                    "kept": pa.array(columns, pa.list_(pa.string())),
                }
            )


def with_earlier_values(changes: pa.Table, key: Sequence[str]) -> pa.Table:
    """Give rows the values that earlier rows of their keys have.

    Args:
        changes: The changes of a table, in order.
        key: The columns of its primary key.

    Raises:
        RowError: An update changes the key of a row whose values it lacks.
    """
    if changes.column("kept").null_count == len(changes):
        return changes
    befores, afters, kept = (changes.column(name).to_pylist() for name in ("before", "after", "kept"))
    known = _KnownRows(key)
    for index, (before, after) in enumerate(zip(befores, afters, strict=True)):
        try:
            afters[index], kept[index] = known.change(before, after, kept[index] or ())
        except ValueError as error:
            raise RowError(index, f"it {error}") from None
    for name, values in (("after", afters), ("kept", kept)):
        place = changes.column_names.index(name)
        changes = changes.set_column(place, name, pa.array(values, changes.schema.field(name).type))
    return changes


class _KnownRows:
    """The rows of a micro-batch's earlier changes, by key.

    Args:
        key: The columns of the primary key.
    """

    def __init__(self, key: Sequence[str]) -> None:
        self._key_of = object_reader(key)
        self._rows: dict[bytes, tuple[bytes, Sequence[str]]] = {}

    def change(
        self, before: bytes | None, after: bytes | None, kept: Sequence[str]
    ) -> tuple[bytes | None, Sequence[str] | None]:
        """Change a row; return it with the values that are known, and the columns of the others.

        Raises:
            ValueError: The key of a row that lacks values changes.
        """
        if kept:
            check_same_key(self._key_of, before, after, kept)
        elif before is not None:
            self._rows.pop(self._key_of(before), None)
        if after is None:
            return None, None
        key = self._key_of(after)
        earlier = self._rows.get(key) if kept else None
        if earlier is not None:
            row, unknown = earlier
            after, kept = with_kept_values(after, row, {*kept} - {*unknown}), [each for each in kept if each in unknown]
        self._rows[key] = after, kept
        return after, kept or None


def with_table_values(
    rows: pa.Table, kept: Sequence[list[str] | None], table: pa.Table, key: Sequence[str]
) -> pa.Table:
    """Give rows the values that a table has; NULL where it has no row of the key.

    Args:
        rows: Rows.
        kept: The columns that each of them lacks.
        table: Rows of the table, with the columns of the key and those that rows lack.
        key: The columns of the primary key.
    """
    places = {values: index for index, values in enumerate(_keys(table, key))}
    indices = pa.array([places.get(values) for values in _keys(rows, key)], pa.int64())
    for name in table.column_names:
        lacks = pa.array([name in (names or ()) for names in kept], pa.bool_())
        if name not in key and pc.any(lacks).as_py():
            found = table.column(name).cast(rows.schema.field(name).type).take(indices)
            place = rows.column_names.index(name)
            rows = rows.set_column(place, rows.schema.field(name), pc.if_else(lacks, found, rows.column(name)))
    return rows


def _keys(rows: pa.Table, key: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(rows.column(name).to_pylist() for name in key), strict=True)
