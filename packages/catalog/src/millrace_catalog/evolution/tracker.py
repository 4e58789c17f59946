"""Following the schema of one table, message by message."""

from __future__ import annotations

from typing import Literal

from millrace.errors import SchemaError
from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    CreateTable,
    SchemaChange,
    apply_change,
)
from millrace_catalog.evolution.schema_diff import Needs
from millrace_catalog.evolution.state import from_text, to_text
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.inference.options import InferenceOptions
from millrace_catalog.types import Column, DataType, Schema, settled
from millrace_catalog.types.count import count_columns
from millrace_catalog.types.names import quoted


class SchemaTracker:
    """Keeps the changes of a table's schema, in order: its creation, then new columns at its end and wider types.

    Whatever it is shown, columns keep their places and never vanish or get narrower; a column that messages do not have
    any more is read as NULL, one with another name is a new one. What is null waits for a value before it becomes a new
    column. What is refused leaves the tracker as it was.

    Args:
        table: The table's id.
        strategy: ``continuous``, or ``static``: the table stays as it was created.
        max_columns: How many columns it may have, fields within columns included.
    """

    def __init__(
        self,
        table: str,
        strategy: Literal["continuous", "static"] = "continuous",
        max_columns: int = InferenceOptions.max_columns,
    ) -> None:
        self.table = table
        self._strategy = strategy
        self._most = max_columns
        self._changes: list[SchemaChange] = []
        self._schema = Schema()
        self._types: dict[str, DataType] = {}
        self._needs = Needs(self._types)

    @classmethod
    def restore(
        cls,
        state: str,
        strategy: Literal["continuous", "static"] = "continuous",
        max_columns: int = InferenceOptions.max_columns,
    ) -> SchemaTracker:
        """A tracker that goes on from what `state` told.

        Raises:
            SchemaError: The state cannot be read.
        """
        table, changes = from_text(state)
        tracker = cls(table, strategy, max_columns)
        for change in changes:
            tracker._take(change)
        return tracker

    @property
    def schema(self) -> Schema:
        """The table's columns; none before its creation."""
        return self._schema

    @property
    def version(self) -> int:
        """The number of the last change; 0 before the table's creation."""
        return len(self._changes)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the table's primary key, if it has one."""
        created = self._changes[0] if self._changes else None
        return created.primary_key if isinstance(created, CreateTable) else ()

    def state(self) -> str:
        """All changes so far as text, for `restore`."""
        return to_text(self.table, self._changes)

    def changes(self, after: int = 0) -> tuple[SchemaChange, ...]:
        """The changes with higher numbers than ``after``, for one who has applied those up to it."""
        return tuple(self._changes[after:])

    def create(self, schema: Schema, primary_key: tuple[str, ...] = (), cause: Position | None = None) -> CreateTable:
        """Create the table with columns that are known already.

        Raises:
            SchemaError: It has been created, has no columns or too many, or lacks one of its primary key.
        """
        if self._changes:
            raise self._error("is there already")
        if not len(schema):
            raise self._error("has no columns")
        if missing := [name for name in primary_key if name not in schema.types]:
            raise self._error(f"has no column {quoted(missing[0])}, which its primary key names")
        self._check_count(schema.types, cause)
        change = CreateTable(1, self.table, schema.columns, primary_key, cause)
        self._take(change)
        return change

    def observe(self, observation: Observation, cause: Position | None = None) -> tuple[SchemaChange, ...]:
        """Make the table hold what a message has.

        Args:
            observation: What the message says.
            cause: Where it is.

        Returns:
            The changes that this needs, in order; none when the table holds it already.

        Raises:
            SchemaError: The message is of another table or has another primary key, has NULL for what is NOT NULL, or
                too many columns.
        """
        if observation.table != self.table:
            raise self._error(f"got a message of table {observation.table!r}", cause)
        if not self._changes:
            columns = [Column(name, settled(type_)) for name, type_ in observation.columns.items()]
            return (self.create(Schema(tuple(columns)), observation.primary_key or (), cause),) if columns else ()
        return () if self._strategy == "static" else self._evolve(observation, cause)

    def _evolve(self, observation: Observation, cause: Position | None) -> tuple[SchemaChange, ...]:
        self._check_key(observation.primary_key, cause)
        needed = self._needs.of(observation.columns)
        if needed is None:
            return ()
        for column in needed.loosened:
            raise self._error(f"has NULL in column {quoted(column.name)}, which is {column.before}", cause)
        added, altered = needed.added, needed.altered
        after = {column.name: column.after for column in altered} | {column.name: column.type for column in added}
        self._check_count(self._types | after, cause)
        changes: list[SchemaChange] = []
        if added:
            changes.append(AddColumns(self.version + 1, self.table, added, cause))
        if altered:
            changes.append(AlterColumnTypes(self.version + 1 + len(changes), self.table, altered, cause))
        for change in changes:
            self._take(change)
        return tuple(changes)

    def _take(self, change: SchemaChange) -> None:
        self._changes.append(change)
        self._schema = apply_change(self._schema, change)
        self._types = self._schema.types
        self._needs.grow(self._types)

    def _check_key(self, key: tuple[str, ...] | None, cause: Position | None) -> None:
        if key is not None and key != self.primary_key:
            known, new = (f"({', '.join(each)})" if each else "none" for each in (self.primary_key, key))
            raise self._error(f"has another primary key: {new} instead of {known}; constraints cannot change", cause)

    def _check_count(self, types: dict[str, DataType], cause: Position | None) -> None:
        count = sum(map(count_columns, types.values()))
        if count > self._most:
            raise self._error(
                f"would have {count} columns, fields within columns included, more than option "
                f"'infer-schema.max-columns' allows ({self._most})",
                cause,
            )

    def _error(self, problem: str, cause: Position | None = None) -> SchemaError:
        where = "" if cause is None else f" at {cause}"
        return SchemaError(f"table {self.table!r}{where} {problem}")
