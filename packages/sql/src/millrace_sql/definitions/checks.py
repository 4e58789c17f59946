"""Check a CREATE TABLE, and make a definition of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import sqlglot
from sqlglot import expressions as exp

from millrace.options.secrets import Properties
from millrace.options.suggestions import closest
from millrace_catalog.types import DataType, with_nullability
from millrace_catalog.types.identifiers import quote_name
from millrace_sql.definitions.event_time import watermark_delay_ms
from millrace_sql.definitions.legacy_options import legacy_advice
from millrace_sql.definitions.model import CONNECTOR, TableDefinition, shown
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import Identifier, ScriptPosition
from millrace_sql.statements import Column, ComputedColumn, MetadataColumn, PhysicalColumn

_EVENT_TIMES = ("TIMESTAMP", "TIMESTAMP_LTZ")


def check_definition(table: TableDefinition, position: ScriptPosition) -> TableDefinition:
    """Check that the parts of a definition fit each other, and return it with the columns of its key NOT NULL.

    Args:
        table: The definition.
        position: The statement's place, for what has none of its own.

    Raises:
        SqlError: Something is wrong.
    """
    _check_connector(table, position)
    _check_names(table.columns, position)
    _check_computed_columns(table.columns)
    table = replace(table, columns=_with_key_not_null(table))
    _check_watermark(table)
    _check_partition_keys(table, position)
    return replace(table, options=Properties(table.options))


def _check_connector(table: TableDefinition, position: ScriptPosition) -> None:
    if not table.options.get(CONNECTOR):
        name = shown(table.identifier)
        misspelt = closest(CONNECTOR, table.options)
        hint = f"did you mean {CONNECTOR!r} instead of {misspelt!r}?" if misspelt else "such as 'connector' = 'kafka'"
        problem = legacy_advice(table.options) or f"the option 'connector' is required, {hint}"
        raise SqlError(f"table {name}: {problem}", position)


def _check_names(columns: tuple[Column, ...], position: ScriptPosition) -> None:
    count = Counter(column.name.lower() for column in columns)
    seen: set[str] = set()
    for column in columns:
        # Spark's names have no case
        if count[column.name.lower()] > 1 and column.name.lower() in seen:
            raise SqlError(f"column {quote_name(column.name)} is defined twice", column.position or position)
        seen.add(column.name.lower())


def _check_computed_columns(columns: tuple[Column, ...]) -> None:
    computed = {column.name.lower(): column.name for column in columns if isinstance(column, ComputedColumn)}
    for column in columns:
        if not isinstance(column, ComputedColumn):
            continue
        for name in referenced_columns(column.expression.text):
            if name.lower() in computed:
                which = "itself" if name.lower() == column.name.lower() else f"the computed column {quote_name(name)}"
                raise SqlError(
                    f"computed column {quote_name(column.name)} uses {which}; it can use physical and metadata columns "
                    f"only: write the expression out",
                    column.expression.position,
                )


def referenced_columns(expression: str) -> set[str]:
    """Return the first parts of the names in an expression; empty where only Spark can read it."""
    try:
        tree = sqlglot.parse_one(expression, read="spark")
    except sqlglot.errors.SqlglotError:
        return set()
    return {column.parts[0].name for column in tree.find_all(exp.Column)}


def _find(columns: Iterable[Column], name: str) -> Column | None:
    return next((column for column in columns if column.name.lower() == name.lower()), None)


def _unknown_column(what: str, name: str, columns: Iterable[Column]) -> str:
    names = [column.name for column in columns]
    close = closest(name, names)
    if close:
        return f"{what} {quote_name(name)} is not a column of the table; did you mean {quote_name(close)}?"
    known = f"its columns are {', '.join(map(quote_name, names))}" if names else "it declares none"
    return f"{what} {quote_name(name)} is not a column of the table; {known}"


def _with_key_not_null(table: TableDefinition) -> tuple[Column, ...]:
    key = table.primary_key
    if key is None:
        return table.columns
    names = [name.lower() for name in key.columns]
    for name in key.columns:
        if names.count(name.lower()) > 1:
            raise SqlError(f"column {quote_name(name)} is in the primary key twice", key.position)
        column = _find(table.columns, name)
        if column is None:
            raise SqlError(_unknown_column("primary key:", name, table.columns), key.position)
        if isinstance(column, ComputedColumn):
            raise SqlError(
                f"primary key: {quote_name(name)} is a computed column; a key has physical or metadata columns",
                key.position,
            )
    # As in the reference, the columns of a key need no NOT NULL of their own
    return tuple(
        replace(column, type=with_nullability(column.type, False))
        if not isinstance(column, ComputedColumn) and column.name.lower() in names
        else column
        for column in table.columns
    )


def _check_watermark(table: TableDefinition) -> None:
    watermark = table.watermark
    if watermark is None:
        return
    column = _find(table.columns, watermark.column)
    if column is None:
        raise SqlError(_unknown_column("watermark:", watermark.column, table.columns), watermark.position)
    if isinstance(column, PhysicalColumn | MetadataColumn) and not _is_event_time(column.type):
        raise SqlError(
            f"watermark: {quote_name(column.name)} is {column.type}; expected TIMESTAMP(3) or TIMESTAMP_LTZ(3), "
            f"such as a computed column: ts AS TO_TIMESTAMP({quote_name(column.name)})",
            watermark.position,
        )
    watermark_delay_ms(watermark)


def _is_event_time(type_: DataType) -> bool:
    return getattr(type_, "kind", None) in _EVENT_TIMES


def _check_partition_keys(table: TableDefinition, position: ScriptPosition) -> None:
    for name in table.partition_keys:
        column = _find(table.columns, name)
        if column is None:
            raise SqlError(_unknown_column("PARTITIONED BY:", name, table.columns), position)
        if not isinstance(column, PhysicalColumn):
            raise SqlError(f"PARTITIONED BY: {quote_name(name)} is not a physical column", position)


def check_name(name: Identifier, kind: str) -> None:
    """Check that no part of a name is empty.

    Raises:
        SqlError: One is.
    """
    if not all(name.parts):
        raise SqlError(f"the name of a {kind} cannot be empty", name.position)
