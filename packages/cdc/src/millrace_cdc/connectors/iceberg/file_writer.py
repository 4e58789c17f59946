"""Write the data and delete files of a table, on the executors."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from millrace_cdc.connectors.iceberg.metrics import content_file, field_id
from millrace_cdc.connectors.iceberg.partitioning import PartitionField, partitions
from millrace_cdc.connectors.iceberg.schema import arrow_schema
from millrace_cdc.connectors.table_files.images import read_images
from millrace_cdc.connectors.table_files.kept_values import with_earlier_values, with_table_values
from millrace_cdc.connectors.table_files.last_changes import last_changes
from millrace_cdc.connectors.table_files.parquet_files import write_parquet
from millrace_cdc.rows.arrow_rows import JsonColumns, RowError


@dataclass(frozen=True)
class IcebergTarget:
    """A table as executors need it; plain data.

    Attributes:
        schema: Its schema, as JSON.
        key: The columns of its primary key.
        location: URL of the folder of its data.
        properties: Properties that say how to reach the folder.
        spec_id: The id of its partition spec.
        partition: The fields of the spec.
        delete_spec_id: The id of a spec without fields, whose delete files are for all partitions.
        is_empty: Whether it has no rows yet, and thus none to delete.
    """

    schema: str
    key: tuple[str, ...]
    location: str
    properties: tuple[tuple[str, str], ...] = field(repr=False)
    spec_id: int
    partition: tuple[PartitionField, ...]
    delete_spec_id: int
    is_empty: bool


class IcebergFileWriter:
    """Write files of tables.

    Args:
        targets: The tables, by id.
        prefix: What the names of all files begin with.
        kept: For tables whose rows lack values, the rows of the table that have these, as a file of Parquet.
    """

    def __init__(
        self, targets: Mapping[str, IcebergTarget], prefix: str, kept: Mapping[str, bytes] | None = None
    ) -> None:
        self._targets = targets
        self._prefix = prefix
        self._kept = kept or {}

    def __call__(self, table: str, part: int, changes: pa.Table) -> str:
        """Write the changes of a part of a table; return the entries of the files, as JSON.

        Raises:
            RowError: A row does not fit.
        """
        target = self._targets[table]
        schema = arrow_schema(json.loads(target.schema))
        entries: list[dict[str, Any]] = []
        if target.key:
            last = last_rows(with_earlier_values(changes, target.key), schema, target.key)
            rows = last.rows
            if table in self._kept and any(last.kept):
                known = pq.read_table(io.BytesIO(self._kept[table]))
                rows = with_table_values(rows, last.kept, known, target.key)
            if not target.is_empty:
                ids = [field_id(each) for each in last.keys.schema]
                entries.append(self._write(target, part, "deletes", last.keys, target.delete_spec_id, equality_ids=ids))
        else:
            _refuse_other_than_insertions(changes)
            rows = _rows(changes, "after", ("c",), JsonColumns(schema), ())[1]
        if rows.num_rows:
            for each in partitions(rows, target.partition):
                kept = rows.take(each.rows) if target.partition else rows
                entries.append(self._write(target, part, "data", kept, target.spec_id, each.values))
        return json.dumps(entries)

    def _write(
        self,
        target: IcebergTarget,
        part: int,
        kind: str,
        rows: pa.Table,
        spec_id: int,
        partition: Sequence[Any] = (),
        *,
        equality_ids: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        url = f"{target.location}/{self._prefix}-{part:05d}-{kind}-{uuid.uuid4().hex}.parquet"
        size = write_parquet(url, dict(target.properties), rows)
        return content_file(url, size, rows, spec_id=spec_id, partition=partition, equality_ids=equality_ids)


class LastRows(NamedTuple):
    """Last rows of the keys of some changes.

    Attributes:
        rows: The last row of each key that has one.
        keys: All keys, each once.
        kept: For each of the rows, the columns whose values the table has.
    """

    rows: pa.Table
    keys: pa.Table
    kept: list[list[str] | None]


def last_rows(changes: pa.Table, schema: pa.Schema, key: Sequence[str]) -> LastRows:
    """Find the last row of each key.

    Args:
        changes: Changes in order.
        schema: The columns of rows.
        key: The columns of the primary key.

    Raises:
        RowError: A row does not fit.
    """
    new, rows = _rows(changes, "after", ("c", "u"), JsonColumns(schema), key)
    fields = pa.schema([schema.field(name) for name in key])
    reader = JsonColumns(fields)
    deleted, old_keys = _rows(changes, "before", ("d",), reader, key)
    updated, other_keys = _rows(changes, "before", ("u",), reader, ())
    # An old row without its key, as databases write where the key has not changed
    has_key = pc.is_valid(other_keys.column(key[0]))
    for name in key[1:]:
        has_key = pc.and_(has_key, pc.is_valid(other_keys.column(name)))
    old = pa.concat_tables([old_keys, other_keys.filter(has_key)])
    old_at = pa.concat_arrays([deleted, updated.filter(has_key.combine_chunks())])
    last = last_changes(old, old_at, rows.select(list(key)), new)
    kept = changes.column("kept").take(new).take(last.rows).to_pylist()
    return LastRows(rows.take(last.rows), last.keys.select(list(key)).cast(fields), kept)


def _rows(
    changes: pa.Table, image: str, operations: Sequence[str], columns: JsonColumns, key: Sequence[str]
) -> tuple[pa.Array, pa.Table]:
    """Read rows that must have a primary key: see `read_images`."""
    numbers, rows = read_images(changes, image, operations, columns)
    for name in key:
        if rows.column(name).null_count:
            first = pc.index(pc.is_null(rows.column(name)), True).as_py()
            raise RowError(numbers[first].as_py(), f"its primary key {name!r} is NULL")
    return numbers, rows


def _refuse_other_than_insertions(changes: pa.Table) -> None:
    others = pc.indices_nonzero(pc.not_equal(changes.column("operation"), "c"))
    if len(others):
        raise RowError(
            others[0].as_py(),
            "the table has no primary key, so that rows can only be added, and this is an update or a deletion: give "
            "its key by 'primary-keys' in a transform",
        )
