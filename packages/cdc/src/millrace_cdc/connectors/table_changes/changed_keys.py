"""The primary keys of changes, which are compared by the values of their columns, whatever their texts."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StructType

from millrace.pyspark_internals import to_arrow_schema
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from millrace_cdc.rows.arrow_rows import JsonColumns, RowError

if TYPE_CHECKING:
    from millrace.contracts import PipelineTable


def key_schema(table: PipelineTable) -> pa.Schema:
    """Return the columns of a table's primary key; none where it has no key."""
    fields = to_arrow_schema(StructType([table.schema[name] for name in table.primary_key]))
    # Arrow groups by no lists, maps and rows: their JSON stands for them
    return pa.schema(
        [pa.field(field.name, pa.string() if pa.types.is_nested(field.type) else field.type) for field in fields]
    )


class ChangedKeys(NamedTuple):
    """The keys of the rows before and after changes.

    Attributes:
        old: The numbers of the changes whose old rows have a key.
        new: The numbers of the changes that have a new row.
        columns: The columns of the keys: those of the old rows, and then those of the new ones.
    """

    old: pa.Array
    new: pa.Array
    columns: list[pa.ChunkedArray]


def changed_keys(changes: pa.Table, key: pa.Schema) -> ChangedKeys:
    """Read the keys of changes.

    Old rows of updates without their key are left out: databases write these where the key has not changed.

    Args:
        changes: Changes with the columns of `ChangeBatch.map`.
        key: The columns of the primary key, as of `key_schema`.

    Raises:
        ChangeError: A key has a NULL.
    """
    images = [changes.column(name) for name in ("before", "after")]
    old, new = (pc.indices_nonzero(pc.is_valid(image)).cast(pa.int64()) for image in images)
    numbers = pa.concat_arrays([old, new])
    rows = [row for image, places in zip(images, (old, new), strict=True) for row in image.take(places).to_pylist()]
    try:
        keys = JsonColumns(key).read(rows)
    except RowError as error:
        raise ChangeError.at(changes, numbers[error.index].as_py(), error.reason) from None
    if any(column.null_count for column in keys.columns):
        has_key = reduce(pc.and_, map(pc.is_valid, keys.columns)).combine_chunks()
        _check_nulls(changes, numbers, keys, has_key, len(old))
        old, new, keys = old.filter(has_key[: len(old)]), new.filter(has_key[len(old) :]), keys.filter(has_key)
    return ChangedKeys(old, new, list(map(_comparable, keys.columns)))


def _check_nulls(changes: pa.Table, numbers: pa.Array, keys: pa.Table, has_key: pa.Array, old: int) -> None:
    is_update = pc.equal(changes.column("operation").take(numbers), "u").combine_chunks()
    may_lack = pa.concat_arrays([is_update[:old], pa.array([False] * (len(numbers) - old), pa.bool_())])
    refused = pc.indices_nonzero(pc.invert(pc.or_(has_key, may_lack)))
    if len(refused):
        row = refused[0].as_py()
        name = next(name for name in keys.column_names if not keys.column(name)[row].is_valid)
        raise ChangeError.at(changes, numbers[row].as_py(), f"its primary key {name!r} is NULL")


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    # -0.0 equals 0.0
    return pc.add(column, pa.scalar(0, column.type)) if pa.types.is_floating(column.type) else column
