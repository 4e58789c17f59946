"""Write the data and delete files of a table, on the executors."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from millrace_cdc.connectors.iceberg.metrics import content_file, field_id
from millrace_cdc.connectors.iceberg.partitioning import PartitionField, partitions
from millrace_cdc.connectors.iceberg.schema import arrow_schema
from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.table_changes.kept_values import with_table_values
from millrace_cdc.connectors.table_changes.row_images import read_rows
from millrace_cdc.connectors.table_files.parquet_files import write_parquet


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
        kept_rows: For tables whose rows lack values, the rows of the table that have these, as a file of Parquet.
    """

    def __init__(
        self, targets: Mapping[str, IcebergTarget], prefix: str, kept_rows: Mapping[str, bytes] | None = None
    ) -> None:
        self._targets = targets
        self._prefix = prefix
        self._kept_rows = kept_rows or {}

    def __call__(self, table: str, part: int, changes: pa.Table) -> str:
        """Write the changes of a part of a table; return the entries of the files, as JSON.

        Raises:
            ChangeError: A row does not fit.
        """
        target = self._targets[table]
        schema = arrow_schema(json.loads(target.schema))
        key = pa.schema([schema.field(name) for name in target.key])
        final = final_changes(changes, key)
        rows = read_rows(final.upserts, "after", schema)
        kept_names = final.upserts.column("kept")
        if table in self._kept_rows and kept_names.null_count < len(kept_names):
            known = pq.read_table(io.BytesIO(self._kept_rows[table]))
            rows = with_table_values(rows, kept_names.to_pylist(), known, target.key)
        entries: list[dict[str, Any]] = []
        if target.key and not target.is_empty:
            keys = pa.concat_tables([rows.select(target.key).cast(key), read_rows(final.deletes, "before", key)])
            ids = [field_id(field) for field in key]
            entries.append(self._write(target, part, "deletes", keys, target.delete_spec_id, equality_ids=ids))
        if rows.num_rows:
            for partition in partitions(rows, target.partition):
                written = rows.take(partition.rows) if target.partition else rows
                entries.append(self._write(target, part, "data", written, target.spec_id, partition.values))
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
