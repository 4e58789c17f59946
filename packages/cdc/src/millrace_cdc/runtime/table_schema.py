"""The columns of a source's table, as tasks get them."""

from __future__ import annotations

import functools
from typing import NamedTuple

from millrace_catalog.types import Schema, parse_schema


class SourceTableSchema(NamedTuple):
    """The columns of a table before a micro-batch, in a form that is cheap to send to executors.

    Attributes:
        columns: Its columns, as SQL.
        primary_key: The columns of its primary key.
        declared: The names of the columns whose types have been declared before the first message.
    """

    columns: str
    primary_key: tuple[str, ...]
    declared: tuple[str, ...] = ()


def columns_of(table: SourceTableSchema) -> Schema:
    """Return the columns of a table."""
    return _parse_columns(table.columns)


# A worker parses the columns of a table once; the cache of parse_schema is small for a pipeline's many tables
_parse_columns = functools.lru_cache(maxsize=4096)(parse_schema)
