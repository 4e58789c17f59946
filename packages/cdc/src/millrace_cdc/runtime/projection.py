"""Projections and filters of transforms, as Spark SQL over the columns of one table."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from millrace_catalog.types import Schema
from millrace_catalog.types.identifiers import backquote
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.table_id import TableId

TABLE_METADATA = ("__namespace_name__", "__schema_name__", "__table_name__", "__data_event_type__")
"""The columns that every table has for expressions, beside its own."""

_ALL = "*"
_QUOTES = {"'", '"', "`"}
_OPENING, _CLOSING = "([{", ")]}"


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
    """Return the transform of a table's rows; None for a rule that leaves them as they are."""
    items = tuple(split_items(rule.projection or _ALL))
    if items == (_ALL,) and rule.filter is None and rule.converter is None:
        return None
    expanded = [name for item in items for name in (_names(columns) if item == _ALL else [item])]
    return Projection(tuple(expanded), rule.filter, rule.converter == "SOFT_DELETE")


def table_id(text: str) -> TableId:
    """Return the id of a table as messages name it; a name with more dots than an id has parts is one part."""
    try:
        return TableId.parse(text)
    except ValueError:
        return TableId(None, None, text)


def table_metadata(table: TableId) -> dict[str, str | None]:
    """Return the names of a table's parts by those columns of `TABLE_METADATA` that hold them."""
    return dict(zip(TABLE_METADATA, (table.namespace, table.schema, table.table), strict=False))


def split_items(text: str) -> Iterator[str]:
    """Yield the parts of a list that are divided by commas outside of quotes and parentheses."""
    depth, quote, start = 0, "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif character == "," and not depth:
            yield _unescaped(text[start:index])
            start = index + 1
    yield _unescaped(text[start:])


def _unescaped(item: str) -> str:
    """Return an item; a star at the beginning of a YAML value is written with a backslash before it."""
    item = item.strip()
    return _ALL if item == "\\*" else item


@functools.lru_cache(maxsize=1024)
def _names(columns: Schema) -> Sequence[str]:
    return [backquote(name) for name in columns.names]
