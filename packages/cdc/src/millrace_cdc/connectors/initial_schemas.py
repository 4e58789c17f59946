"""The schemas that tables have before their first changes, given by statements of SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from millrace_catalog.types import Schema, parse_schema
from millrace_cdc.definitions.rules import parse_column_names
from millrace_cdc.table_id import TableId

_STATEMENT = re.compile(
    r"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<table>(?:`(?:[^`]|``)+`|[^\s(`])+)\s*\((?P<columns>.*)\)\s*",
    re.IGNORECASE | re.DOTALL,
)
_PRIMARY_KEY = re.compile(
    r",\s*PRIMARY\s+KEY\s*\((?P<columns>[^()]*)\)\s*NOT\s+ENFORCED\s*$", re.IGNORECASE | re.DOTALL
)
_PIECE = re.compile(r"`(?:[^`]|``)*`|'(?:[^']|'')*'|;|[^`';]+|.", re.DOTALL)


@dataclass(frozen=True)
class InitialSchema:
    """The schema that a table has before its first message.

    Attributes:
        table: The table's id.
        schema: Its columns.
        primary_key: The names of the columns of its primary key; empty when it has none.
    """

    table: TableId
    schema: Schema
    primary_key: tuple[str, ...] = ()


def schemas_by_table(schemas: Iterable[InitialSchema]) -> Mapping[str, tuple[Schema, tuple[str, ...]]]:
    """Return columns and primary keys, by id of the table."""
    return {str(initial.table): (initial.schema, initial.primary_key) for initial in schemas}


def parse_initial_schemas(text: str) -> tuple[InitialSchema, ...]:
    """Parse statements such as ``CREATE TABLE db1.t1 (id BIGINT, name VARCHAR(10));``.

    Raises:
        ValueError: One is no such statement, or a table is repeated.
    """
    statements = [""]
    for piece in _PIECE.findall(text):
        if piece == ";":
            statements.append("")
        else:
            statements[-1] += piece
    schemas = tuple(_parse_statement(statement) for statement in statements if statement.strip())
    if len({schema.table for schema in schemas}) < len(schemas):
        raise ValueError("expected one statement for each table")
    return schemas


def _parse_statement(text: str) -> InitialSchema:
    match = _STATEMENT.fullmatch(text)
    if match is None:
        raise ValueError("expected CREATE TABLE db.name (column TYPE, ...), separated by ';'")
    key = _PRIMARY_KEY.search(match["columns"])
    columns = match["columns"][: key.start()] if key else match["columns"]
    table = TableId.parse(match["table"])
    try:
        schema = parse_schema(columns)
    except ValueError as error:
        raise ValueError(f"columns of {table}: {error}") from error
    primary_key = parse_column_names(key["columns"]) if key else ()
    missing = [name for name in primary_key if name not in {column.name for column in schema.columns}]
    if missing:
        raise ValueError(f"the primary key of {table} names {', '.join(missing)}, which is none of its columns")
    return InitialSchema(table, schema, primary_key)
