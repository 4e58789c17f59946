"""Values that updates leave as they were and lack: from earlier changes of a micro-batch, and from the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from millrace.change_dialects import REPLICA_IDENTITY_HINT
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.connectors.table_changes.changed_keys import changed_keys
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from millrace_cdc.rows.change_records import CHANGE_SCHEMA, kept_columns, row_images
from millrace_cdc.rows.compiled_readers import object_reader
from millrace_cdc.rows.kept_values import with_kept_values

Key = tuple[object, ...]

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
        kept_by_change = kept_columns(batch)
        tables, afters = batch.column("table").to_pylist(), row_images(batch)[1]
        partial_rows = [
            (tables[index], readers[tables[index]](afters[index]), names)
            for index, names in kept_by_change.items()
            if tables[index] in readers
        ]
        if partial_rows:
            names, texts, columns = zip(*partial_rows, strict=True)
            yield pa.record_batch(
                {
                    "table": pa.array(names, pa.string()),
                    "key": pa.array(texts, pa.binary()),
                    "kept": pa.array(columns, pa.list_(pa.string())),
                }
            )


def with_earlier_values(changes: pa.Table, key: pa.Schema) -> pa.Table:
    """Return changes in which only those columns are ``kept`` whose values no earlier change of the key has.

    Args:
        changes: Changes in order, with the columns of `ChangeBatch.map`.
        key: The columns of the primary key, as of `key_schema`.

    Raises:
        ChangeError: A change with kept columns also changes its row's key: nothing has the values by the new key.
    """
    kept_by_change = kept_columns(changes)
    if not kept_by_change:
        return changes
    old, new = _keys_by_change(changes, key)
    partial = {new[index] for index in kept_by_change}
    operations, rows = (changes.column(name).to_pylist() for name in ("operation", "after"))
    states: dict[Key, tuple[bytes, list[str]]] = {}
    for index, operation in enumerate(operations):
        before, after = old.get(index), new.get(index)
        names = kept_by_change.get(index, [])
        if names and (operation == "c" or before not in (None, after)):
            raise ChangeError.at(changes, index, _unknown_value(names[0]))
        earlier = states.get(after) if after is not None else None
        if before is not None:
            states.pop(before, None)
        if after is None or after not in partial:
            continue
        if names and earlier is not None:
            row, missing = earlier
            rows[index] = with_kept_values(rows[index], row, set(names) - set(missing))
            kept_by_change[index] = names = [name for name in names if name in missing]
        states[after] = rows[index], names
    return _with_rows(changes, rows, [kept_by_change.get(index) or None for index in range(len(rows))])


def with_table_values(
    rows: pa.Table, kept_names: Sequence[list[str] | None], table: pa.Table, key: Sequence[str]
) -> pa.Table:
    """Give rows the values that a table has; NULL where it has no row of the key.

    Args:
        rows: Rows.
        kept_names: The columns that each of them lacks.
        table: Rows of the table, with the columns of the key and those that rows lack.
        key: The columns of the primary key.
    """
    places = {values: index for index, values in enumerate(_keys(table, key))}
    indices = pa.array([places.get(values) for values in _keys(rows, key)], pa.int64())
    for name in table.column_names:
        lacks = pa.array([name in (names or ()) for names in kept_names], pa.bool_())
        if name not in key and pc.any(lacks).as_py():
            table_values = table.column(name).cast(rows.schema.field(name).type).take(indices)
            place = rows.column_names.index(name)
            rows = rows.set_column(place, rows.schema.field(name), pc.if_else(lacks, table_values, rows.column(name)))
    return rows


def _keys_by_change(changes: pa.Table, key: pa.Schema) -> tuple[dict[int, Key], dict[int, Key]]:
    """Return the keys of old rows, and those of new ones, by the numbers of their changes."""
    keys = changed_keys(changes, key)
    values = zip(*(column.to_pylist() for column in keys.columns), strict=True)
    # Those of old rows come first
    old = dict(zip(keys.old.to_pylist(), values, strict=False))
    return old, dict(zip(keys.new.to_pylist(), values, strict=True))


def _with_rows(changes: pa.Table, rows: list[bytes | None], kept_names: list[list[str] | None]) -> pa.Table:
    for name, values in (("after", rows), ("kept", kept_names)):
        column = pa.array(values, CHANGE_SCHEMA.field(name).type)
        changes = changes.set_column(changes.column_names.index(name), name, column)
    return changes


def _keys(rows: pa.Table, key: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(rows.column(name).to_pylist() for name in key), strict=True)


def _unknown_value(name: str) -> str:
    return (
        f"it changes the key of its row, and lacks column {quote_name(name)}, which the database did not send. "
        f"{REPLICA_IDENTITY_HINT}"
    )
