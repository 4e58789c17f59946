"""Change the columns, the primary key and the watermark of a table's definition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from millrace.options.suggestions import closest
from millrace_catalog.types.identifiers import quote_name
from millrace_sql.definitions.checks import check_definition, referenced_columns
from millrace_sql.definitions.model import TableDefinition, shown
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import NOWHERE, ScriptPosition, SqlText
from millrace_sql.statements import AddedColumn, Column, ColumnChanges, ComputedColumn, PhysicalColumn


def change_columns(table: TableDefinition, changes: ColumnChanges, position: ScriptPosition) -> TableDefinition:
    """Return a table with changed columns, checked.

    Args:
        table: The table.
        changes: The changes.
        position: The statement's place.

    Raises:
        SqlError: A column is there already, is not there, or is needed by another part of the table.
    """
    return check_definition(_Alteration(without_places(table), position).apply(changes), position)


def without_places(table: TableDefinition) -> TableDefinition:
    """Return a table without the places of its parts, which are those of the script that created it."""
    key, watermark = table.primary_key, table.watermark
    return replace(
        table,
        columns=tuple(map(_without_place, table.columns)),
        primary_key=None if key is None else replace(key, position=NOWHERE),
        watermark=None
        if watermark is None
        else replace(watermark, position=NOWHERE, expression=SqlText(watermark.expression.text)),
    )


def _without_place(column: Column) -> Column:
    if isinstance(column, ComputedColumn):
        return replace(column, position=NOWHERE, expression=SqlText(column.expression.text))
    return replace(column, position=NOWHERE)


class _Alteration:
    def __init__(self, table: TableDefinition, position: ScriptPosition) -> None:
        self._table = table
        self._position = position

    def apply(self, changes: ColumnChanges) -> TableDefinition:
        if changes.kind == "DROP":
            return self._dropped(changes)
        if changes.kind == "RENAME":
            return self._renamed(*changes.names)
        is_new = changes.kind == "ADD"
        columns = list(self._table.columns)
        for column in changes.columns:
            self._put(columns, column, is_new=is_new)
        parts: dict[str, Any] = {"primary_key": changes.primary_key, "watermark": changes.watermark}
        parts = {name: part for name, part in parts.items() if part is not None}
        for name in parts:
            if (getattr(self._table, name) is None) != is_new:
                what = name.replace("_", " ")
                there = f"has a {what} already: write MODIFY" if is_new else f"has no {what}: write ADD"
                raise self._error(there)
        return replace(self._table, columns=tuple(columns), **parts)

    def _put(self, columns: list[Column], placed: AddedColumn, *, is_new: bool) -> None:
        place = self._place_of(columns, placed.column.name)
        if is_new and place is not None:
            raise self._error(f"has a column {quote_name(placed.column.name)} already: write MODIFY")
        if not is_new:
            place = self._required(columns, placed.column.name)
            del columns[place]
        if placed.after is not None:
            place = self._required(columns, placed.after) + 1 if placed.after else 0
        columns.insert(len(columns) if place is None else place, placed.column)

    def _dropped(self, changes: ColumnChanges) -> TableDefinition:
        table = self._table
        if (changes.drops_primary_key and table.primary_key is None) or (
            changes.drops_watermark and table.watermark is None
        ):
            raise self._error(f"has no {'primary key' if changes.drops_primary_key else 'watermark'}")
        if changes.drops_primary_key:
            table = replace(table, primary_key=None)
        if changes.drops_watermark:
            table = replace(table, watermark=None)
        columns = list(table.columns)
        for name in changes.names:
            del columns[self._required(columns, name)]
        for name in changes.names:
            self._refuse_use(name, columns, is_dropped=True)
        return replace(table, columns=tuple(columns))

    def _renamed(self, old: str, new: str) -> TableDefinition:
        columns = list(self._table.columns)
        place = self._required(columns, old)
        if self._place_of(columns, new) not in (None, place):
            raise self._error(f"has a column {quote_name(new)} already")
        self._refuse_use(old, columns, is_dropped=False)
        name, key = columns[place].name, self._table.primary_key
        columns[place] = _with_name(columns[place], new)

        def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(new if column == name else column for column in names)

        return replace(
            self._table,
            columns=tuple(columns),
            primary_key=None if key is None else replace(key, columns=renamed(key.columns)),
            partition_keys=renamed(self._table.partition_keys),
        )

    def _refuse_use(self, name: str, columns: list[Column], *, is_dropped: bool) -> None:
        """Refuse to drop or rename a column that expressions name, and to drop one of a key."""
        table, name = self._table, name.lower()
        used = [
            f"the computed column {quote_name(column.name)}"
            for column in columns
            if isinstance(column, ComputedColumn) and name in _names_in(column.expression.text)
        ]
        watermark = table.watermark
        if watermark is not None and name in {watermark.column.lower(), *_names_in(watermark.expression.text)}:
            used.append("the watermark")
        if is_dropped and name in {column.lower() for column in table.key_columns}:
            used.append("the primary key")
        if is_dropped and name in {column.lower() for column in table.partition_keys}:
            used.append("PARTITIONED BY")
        if used:
            raise self._error(f"needs column {quote_name(name)} for {', '.join(used)}: change that first")

    def _required(self, columns: list[Column], name: str) -> int:
        place = self._place_of(columns, name)
        if place is None:
            close = closest(name, [column.name for column in columns])
            hint = f"; did you mean {quote_name(close)}?" if close else ""
            raise self._error(f"has no column {quote_name(name)}{hint}")
        return place

    def _place_of(self, columns: list[Column], name: str) -> int | None:
        # Spark's names have no case
        return next((place for place, column in enumerate(columns) if column.name.lower() == name.lower()), None)

    def _error(self, problem: str) -> SqlError:
        return SqlError(f"table {shown(self._table.identifier)} {problem}", self._position)


def _with_name(column: Column, name: str) -> Column:
    if isinstance(column, PhysicalColumn | ComputedColumn):
        return replace(column, name=name)
    # Without FROM, the key of metadata is the column's name
    return replace(column, name=name, key=column.key or column.name)


def _names_in(expression: str) -> set[str]:
    return {name.lower() for name in referenced_columns(expression)}
