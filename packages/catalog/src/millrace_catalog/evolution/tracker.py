"""Follow the schema of one table, message by message."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from millrace.errors import SchemaError
from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    SchemaChange,
    TableCreation,
    apply_change,
    format_changes,
    parse_changes,
)
from millrace_catalog.evolution.schema_diff import SchemaDiff
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.inference.options import InferenceOptions
from millrace_catalog.types import Column, DataType, Schema, resolve_unknown
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.model import count_columns


class SchemaTracker:
    """Record the schema changes of a table: its creation, then new columns at its end and wider types.

    Columns keep their places and never vanish or become narrower. A column that messages no longer have reads as NULL,
    and a renamed column is a new one. A field becomes a column with its first value that is not null. A refused message
    leaves the tracker unchanged.

    Args:
        table: Id of the table.
        strategy: ``continuous``, or ``static`` to keep the columns of the table's creation.
        max_columns: Maximum number of columns, fields within columns included.
    """

    def __init__(
        self,
        table: str,
        strategy: Literal["continuous", "static"] = "continuous",
        max_columns: int = InferenceOptions.max_columns,
    ) -> None:
        self.table = table
        self._strategy = strategy
        self._max_columns = max_columns
        self._changes: list[SchemaChange] = []
        self._schema = Schema()
        self._types: dict[str, DataType] = {}
        self._diff = SchemaDiff(self._types)

    @classmethod
    def restore(
        cls,
        state: str,
        strategy: Literal["continuous", "static"] = "continuous",
        max_columns: int = InferenceOptions.max_columns,
    ) -> SchemaTracker:
        """Make a tracker from the text of `state`.

        Raises:
            SchemaError: The text is malformed.
        """
        table, changes = parse_changes(state)
        tracker = cls(table, strategy, max_columns)
        for change in changes:
            tracker._apply(change)
        return tracker

    def copy(self, version: int | None = None) -> SchemaTracker:
        """Return a tracker of its own with the changes up to a number, by default with all of them."""
        tracker = SchemaTracker(self.table, self._strategy, self._max_columns)
        for change in self._changes[:version]:
            tracker._apply(change)
        return tracker

    @property
    def schema(self) -> Schema:
        """Columns of the table; none before its creation."""
        return self._schema

    @property
    def version(self) -> int:
        """Number of the last change; 0 before the table's creation."""
        return len(self._changes)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Columns of the primary key; empty when there is none."""
        created = self._changes[0] if self._changes else None
        return created.primary_key if isinstance(created, TableCreation) else ()

    def state(self) -> str:
        """Write all changes as text, for `restore`."""
        return format_changes(self.table, self._changes)

    def changes(self, after: int = 0) -> tuple[SchemaChange, ...]:
        """Return the changes after number ``after``, for a consumer that has applied those up to it."""
        return tuple(self._changes[after:])

    def create(self, schema: Schema, primary_key: tuple[str, ...] = (), cause: Position | None = None) -> TableCreation:
        """Create the table with given columns.

        Raises:
            SchemaError: The table exists, has no columns or too many, or lacks a column of its primary key.
        """
        if self._changes:
            raise self._error("exists already")
        if not len(schema):
            raise self._error("has no columns")
        if missing := [name for name in primary_key if name not in schema.types]:
            raise self._error(f"has no column {quote_name(missing[0])}, which its primary key names")
        self._check_count(schema.types, cause)
        change = TableCreation(1, self.table, schema.columns, primary_key, cause)
        self._apply(change)
        return change

    def set_primary_key(self, primary_key: tuple[str, ...]) -> None:
        """Give a table without a primary key one, from now on.

        Raises:
            SchemaError: The table has another primary key, or lacks a column of this one.
        """
        self._check_key(primary_key if self.primary_key else None, None)
        if missing := [name for name in primary_key if name not in self._types]:
            raise self._error(f"has no column {quote_name(missing[0])}, which its primary key names")
        created = self._changes[0]
        assert isinstance(created, TableCreation)  # noqa: S101
        self._changes[0] = replace(created, primary_key=primary_key)

    def observe(self, observation: Observation, cause: Position | None = None) -> tuple[SchemaChange, ...]:
        """Change the table so that it holds a message.

        Args:
            observation: Columns of the message.
            cause: Position of the message.

        Returns:
            The changes, in order; empty when the table holds the message already.

        Raises:
            SchemaError: The message belongs to another table, has another primary key, NULL in a NOT NULL column, or
                too many columns.
        """
        if observation.table != self.table:
            raise self._error(f"got a message of table {observation.table!r}", cause)
        if not self._changes:
            columns = [Column(name, resolve_unknown(type_)) for name, type_ in observation.columns.items()]
            return (self.create(Schema(tuple(columns)), observation.primary_key or (), cause),) if columns else ()
        return () if self._strategy == "static" else self._evolve(observation, cause)

    def _evolve(self, observation: Observation, cause: Position | None) -> tuple[SchemaChange, ...]:
        self._check_key(observation.primary_key, cause)
        required = self._diff.required_by(observation.columns)
        if required is None:
            return ()
        for column in required.nulled:
            raise self._error(f"has NULL in column {quote_name(column.name)}, which is {column.before}", cause)
        added, altered = required.added, required.altered
        after = {column.name: column.after for column in altered} | {column.name: column.type for column in added}
        self._check_count(self._types | after, cause)
        changes: list[SchemaChange] = []
        if added:
            changes.append(AddColumns(self.version + 1, self.table, added, cause))
        if altered:
            changes.append(AlterColumnTypes(self.version + 1 + len(changes), self.table, altered, cause))
        for change in changes:
            self._apply(change)
        return tuple(changes)

    def _apply(self, change: SchemaChange) -> None:
        self._changes.append(change)
        self._schema = apply_change(self._schema, change)
        self._types = self._schema.types
        self._diff.update(self._types)

    def _check_key(self, key: tuple[str, ...] | None, cause: Position | None) -> None:
        if key is not None and key != self.primary_key:
            current, new = (f"({', '.join(names)})" if names else "none" for names in (self.primary_key, key))
            raise self._error(f"has another primary key: {new} instead of {current}; primary keys cannot change", cause)

    def _check_count(self, types: dict[str, DataType], cause: Position | None) -> None:
        count = sum(map(count_columns, types.values()))
        if count > self._max_columns:
            raise self._error(
                f"would have {count} columns, fields within columns included, more than option "
                f"'infer-schema.max-columns' allows ({self._max_columns})",
                cause,
            )

    def _error(self, problem: str, cause: Position | None = None) -> SchemaError:
        position = "" if cause is None else f" at {cause}"
        return SchemaError(f"table {self.table!r}{position} {problem}")
