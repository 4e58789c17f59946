"""Write the changes of a table as rows with kinds, on the executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from millrace_cdc.connectors.table_changes.row_images import read_images
from millrace_cdc.connectors.table_files.parquet_files import write_parquet
from millrace_cdc.rows.arrow_rows import JsonColumns

POSITION = ("topic", "partition", "offset", "timestamp")
"""The columns of a row's message."""

_IMAGES = (("before", "u", "-U"), ("before", "d", "-D"), ("after", "c", "+I"), ("after", "u", "+U"))
_EVENT = "__millrace_event"


@dataclass(frozen=True)
class ParquetTarget:
    """A folder as executors need it; plain data.

    Attributes:
        folder: URL of the folder of new files.
        columns: Its columns.
        row_kind_column: The name of the column with the kind of a row.
        position_prefix: What the names of the columns of `POSITION` begin with.
        properties: Properties that say how to reach the folder.
    """

    folder: str
    columns: pa.Schema
    row_kind_column: str
    position_prefix: str
    properties: tuple[tuple[str, str], ...] = field(repr=False)


class ParquetFileWriter:
    """Write files of tables.

    Args:
        targets: The folders, by table.
        prefix: What the names of all files begin with.
    """

    def __init__(self, targets: Mapping[str, ParquetTarget], prefix: str) -> None:
        self._targets = targets
        self._prefix = prefix

    def __call__(self, table: str, part: int, changes: pa.Table) -> str:
        """Write the changes of a part of a table; return the name of the file.

        Raises:
            ChangeError: A row does not fit.
        """
        target = self._targets[table]
        name = f"{self._prefix}-{part:05d}.parquet"
        write_parquet(f"{target.folder}/{name}", dict(target.properties), rows_with_kinds(changes, target))
        return name


def rows_with_kinds(changes: pa.Table, target: ParquetTarget) -> pa.Table:
    """Return the rows before and after changes, in their order, with the columns of a folder."""
    positions = {f"{target.position_prefix}{name}": name for name in POSITION}
    extra = {target.row_kind_column, *positions}
    columns = JsonColumns(pa.schema([field for field in target.columns if field.name not in extra]))
    parts = []
    for image, operation, kind in _IMAGES:
        numbers, rows = read_images(changes, image, (operation,), columns)
        rows = rows.append_column(target.row_kind_column, pa.array([kind] * rows.num_rows, pa.string()))
        for name, origin in positions.items():
            rows = rows.append_column(name, changes.column(origin).take(numbers))
        # The old row of a change stands before its new one
        order = [2 * number + (image == "after") for number in numbers.to_pylist()]
        parts.append(rows.append_column(_EVENT, pa.array(order, pa.int64())))
    ordered = pa.concat_tables(parts).sort_by(_EVENT)
    return ordered.select(target.columns.names).cast(target.columns)
