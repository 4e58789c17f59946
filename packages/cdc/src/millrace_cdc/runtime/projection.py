"""Transforms of one table, bound to its columns."""

from __future__ import annotations

from millrace_catalog.types import Schema
from millrace_cdc.table_id import TableId
from millrace_cdc.transforms.transform import METADATA_COLUMNS, BoundTransform


def is_identity(transform: BoundTransform, columns: Schema) -> bool:
    """Return whether a transform leaves the rows of a table as they are."""
    copied = tuple(column.copied_from if column.copied_from == column.name else None for column in transform.columns)
    return transform.condition is None and not transform.soft_delete and copied == columns.names


def table_metadata(table: TableId) -> dict[str, str | None]:
    """Return the parts of a table's id by the columns of `METADATA_COLUMNS` that hold them."""
    return dict(zip(METADATA_COLUMNS, (table.namespace, table.schema, table.table), strict=False))
