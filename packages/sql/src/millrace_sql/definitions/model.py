"""Definitions of tables and views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace.options.secrets import Properties
from millrace_catalog.types.identifiers import quote_name
from millrace_sql.script_texts import Identifier, SqlText
from millrace_sql.statements import Column, ComputedColumn, CreateTable, CreateView, PrimaryKey, Watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CONNECTOR = "connector"
"""The option that names a table's connector."""


def shown(name: Identifier) -> str:
    """Return a name as SQL writes it."""
    return ".".join(map(quote_name, name.parts))


@dataclass(frozen=True)
class TableDefinition:
    """A table as it was defined, complete and checked.

    Attributes:
        identifier: Its whole name: catalog, database and table.
        columns: Its columns, in order; the connector may add others to them.
        options: Its options, ``connector`` included; secrets may be references (`millrace_sql.definitions.secrets`).
    """

    identifier: Identifier
    columns: tuple[Column, ...] = ()
    primary_key: PrimaryKey | None = None
    watermark: Watermark | None = None
    comment: str | None = None
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=lambda: Properties({}))
    is_temporary: bool = False

    @property
    def computed_columns(self) -> tuple[ComputedColumn, ...]:
        """The computed columns of the table."""
        return tuple(column for column in self.columns if isinstance(column, ComputedColumn))

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of its primary key; empty when it has none."""
        return self.primary_key.columns if self.primary_key else ()

    def to_statement(self) -> CreateTable:
        """Return the statement that creates it."""
        return CreateTable(
            self.identifier,
            self.columns,
            self.primary_key,
            self.watermark,
            self.comment,
            self.partition_keys,
            self.options,
            is_temporary=self.is_temporary,
        )


@dataclass(frozen=True)
class ViewDefinition:
    """A view as it was defined.

    Attributes:
        identifier: Its whole name.
        query: Its query.
        columns: New names of the query's columns; empty when they keep theirs.
        catalog: The catalog in which the query's names are looked up, the current one when it was created.
        database: The same for the database.
    """

    identifier: Identifier
    query: SqlText
    columns: tuple[str, ...]
    catalog: str
    database: str
    comment: str | None = None
    is_temporary: bool = False

    def to_statement(self) -> CreateView:
        """Return the statement that creates it."""
        return CreateView(self.identifier, self.query, self.columns, self.comment, self.is_temporary)


@dataclass(frozen=True)
class DataFrameView:
    """A DataFrame under a name, for the session only.

    Attributes:
        identifier: Its whole name.
        rows: The DataFrame.
    """

    identifier: Identifier
    rows: DataFrame
    is_temporary: bool = True


Definition = TableDefinition | ViewDefinition | DataFrameView
