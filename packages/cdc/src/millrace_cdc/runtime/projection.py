"""Projections and filters of transforms, as Spark SQL over the columns of one table."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass

from millrace.errors import SchemaError
from millrace_catalog.types import Schema
from millrace_catalog.types.identifiers import backquote
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import PipelineError
from millrace_cdc.table_id import TableId
from millrace_cdc.transforms.transform import METADATA_COLUMNS, ProjectedColumn, Transform

TABLE_METADATA = METADATA_COLUMNS
"""The columns that every table has for expressions, beside its own."""

_ALL = (None, "*", "\\*")


@dataclass(frozen=True)
class Projection:
    """A transform of one table's rows.

    Attributes:
        items: Its columns, as Spark SQL.
        filter: The condition that a row must meet; None for none.
        is_soft_delete: Whether a deletion becomes an insertion of the old row.
    """

    items: tuple[str, ...]
    filter: str | None
    is_soft_delete: bool


def projection_of(rule: TransformRule, columns: Schema) -> Projection | None:
    """Return the transform of a table's rows; None for a rule that leaves them as they are.

    Raises:
        SchemaError: An expression is wrong, or names a column that the table lacks.
    """
    if rule.projection in _ALL and rule.filter is None and rule.converter is None:
        return None
    try:
        return _bound(rule, tuple(columns.names))
    except PipelineError as error:
        raise SchemaError(str(error)) from error


def table_id(text: str) -> TableId:
    """Return the id of a table as messages name it; a name with more dots than an id has parts is one part."""
    try:
        return TableId.parse(text)
    except ValueError:
        return TableId(None, None, text)


def table_metadata(table: TableId) -> dict[str, str | None]:
    """Return the names of a table's parts by those columns of `TABLE_METADATA` that hold them."""
    return dict(zip(TABLE_METADATA, (table.namespace, table.schema, table.table), strict=False))


@functools.lru_cache(maxsize=4096)
def _bound(rule: TransformRule, names: tuple[str, ...]) -> Projection:
    bound = _parsed(rule).bind(names)
    return Projection(tuple(map(_item, bound.columns)), bound.condition, bound.soft_delete)


@functools.lru_cache(maxsize=1024)
def _parsed(rule: TransformRule) -> Transform:
    # The planner checks keys against the columns that Spark finds
    return Transform.of(dataclasses.replace(rule, primary_keys=(), partition_keys=()))


def _item(column: ProjectedColumn) -> str:
    name = backquote(column.name)
    return name if column.copied_from == column.name else f"{column.expression} AS {name}"
