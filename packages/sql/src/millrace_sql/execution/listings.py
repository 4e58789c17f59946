"""Run SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from millrace.contracts import TableColumn
from millrace.options.secrets import Properties
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import DataFrameView, Definition, TableDefinition, ViewDefinition, shown
from millrace_sql.definitions.secrets import without_secrets
from millrace_sql.errors import SqlError
from millrace_sql.execution.definitions import QuerySchema
from millrace_sql.execution.results import TableResult, listing, table_of, text_result
from millrace_sql.execution.tables import Tables
from millrace_sql.render import render
from millrace_sql.script_texts import Identifier
from millrace_sql.statements import Column, ComputedColumn, Describe, MetadataColumn, Show

_DESCRIBED = ("name", "type", "null", "key", "extras", "watermark", "comment")


class ListingRunner:
    """Answer SHOW and DESCRIBE.

    Args:
        catalogs: The definitions.
        tables: Finds the columns that connectors add.
        query_schema: Finds the columns of views.
    """

    def __init__(self, catalogs: CatalogManager, tables: Tables, query_schema: QuerySchema) -> None:
        self._catalogs = catalogs
        self._tables = tables
        self._query_schema = query_schema

    def show(self, statement: Show) -> TableResult:
        """Answer SHOW.

        Raises:
            SqlError: What it names does not exist.
        """
        answers: dict[str, Callable[[], TableResult]] = {
            "CATALOGS": lambda: self._list(statement, "catalog name", self._catalogs.catalogs()),
            "DATABASES": lambda: self._list(statement, "database name", self._databases(statement)),
            "TABLES": lambda: self._list(statement, "table name", self.names(statement.subject)),
            "VIEWS": lambda: self._list(statement, "view name", self.names(statement.subject, views_only=True)),
            "CURRENT CATALOG": lambda: listing("current catalog name", [self._catalogs.current_catalog]),
            "CURRENT DATABASE": lambda: listing("current database name", [self._catalogs.current_database]),
            "COLUMNS": lambda: self._columns(statement),
        }
        if statement.kind in answers:
            return answers[statement.kind]()
        if statement.kind in {"CREATE TABLE", "CREATE VIEW"} and statement.subject is not None:
            return text_result(self.create_statement(statement.subject, statement.kind))
        raise TypeError(f"no listing: SHOW {statement.kind}")

    def show_functions(self, statement: Show, names: Sequence[str]) -> TableResult:
        """Answer SHOW FUNCTIONS with those of Spark and of the session."""
        return self._list(statement, "function name", sorted(names))

    def describe(self, statement: Describe) -> TableResult:
        """Answer DESCRIBE.

        Raises:
            SqlError: What it names does not exist.
        """
        if statement.kind == "CATALOG":
            name = statement.name.parts[-1]
            self._catalogs.catalog(name, statement.name.position)
            info = [("name", name), ("databases", ", ".join(self._catalogs.databases(name)))]
            return table_of(("info name", "info value"), info)
        definition = self._catalogs.get(self._catalogs.resolve(statement.name))
        rows = self._described(definition)
        if statement.is_extended and isinstance(definition, TableDefinition):
            options = without_secrets(definition.options)
            rows += [("", "", None, "", "", "", "")]
            rows += [(key, value, None, "", "", "", "option") for key, value in sorted(options.items())]
        return table_of(_DESCRIBED, rows)

    def names(self, database: Identifier | None = None, *, views_only: bool = False) -> list[str]:
        """Return the names of tables and views, by default of the current database.

        Raises:
            SqlError: There is no such database.
        """
        parts = () if database is None else database.parts
        catalog, name = (self._catalogs.current_catalog, *parts)[-2:] if parts else self._current()
        names = self._catalogs.names(catalog, name)
        if not views_only:
            return names
        definitions = ((table, self._catalogs.find(Identifier((catalog, name, table)))) for table in names)
        if self._catalogs.catalog(catalog).is_read_only:
            # Its tables are never views, and looking at each may ask its cluster
            temporary = [view.identifier for view in self._catalogs.temporary() if not _is_table(view)]
            return sorted(identifier.parts[2] for identifier in temporary if identifier.parts[:2] == (catalog, name))
        return [table for table, definition in definitions if definition is not None and not _is_table(definition)]

    def create_statement(self, name: Identifier, kind: str) -> str:
        """Return the statement that creates a table or view, without secrets.

        Raises:
            SqlError: There is none, or it is of the other kind.
        """
        definition = self._catalogs.get(self._catalogs.resolve(name))
        is_table = isinstance(definition, TableDefinition)
        if is_table != (kind == "CREATE TABLE"):
            other = "table" if is_table else "view"
            raise SqlError(f"{shown(name)} is a {other}: write SHOW CREATE {other.upper()}", name.position)
        if isinstance(definition, DataFrameView):
            raise SqlError(f"{shown(name)} is a DataFrame, which no statement creates", name.position)
        statement = definition.to_statement()
        if isinstance(definition, TableDefinition):
            statement = replace(definition, options=Properties(without_secrets(definition.options))).to_statement()
        return render(statement)

    def _current(self) -> tuple[str, str]:
        return self._catalogs.current_catalog, self._catalogs.current_database

    def _databases(self, statement: Show) -> list[str]:
        return self._catalogs.databases(None if statement.subject is None else statement.subject.parts[-1])

    def _list(self, statement: Show, column: str, names: Sequence[str]) -> TableResult:
        return listing(column, [name for name in names if _fits(statement, name)])

    def _columns(self, statement: Show) -> TableResult:
        if statement.subject is None:
            raise SqlError("SHOW COLUMNS needs FROM and a table", statement.position)
        definition = self._catalogs.get(self._catalogs.resolve(statement.subject))
        return table_of(_DESCRIBED, [row for row in self._described(definition) if _fits(statement, str(row[0]))])

    def _described(self, definition: Definition) -> list[tuple[str | bool | None, ...]]:
        if isinstance(definition, TableDefinition):
            columns = self._tables.columns(definition)
            declared = {column.name: column for column in definition.columns}
            return [_described_column(definition, column, declared.get(column.name)) for column in columns]
        if isinstance(definition, ViewDefinition):
            lookup = self._tables.lookup(definition.catalog, definition.database)
            schema = self._query_schema(definition.query, lookup)
            names = definition.columns or tuple(schema.names)
        else:
            schema, names = definition.rows.schema, tuple(definition.rows.columns)
        return [
            (name, field.dataType.simpleString().upper(), field.nullable, None, None, None, None)
            for name, field in zip(names, schema, strict=True)
        ]


def _described_column(
    table: TableDefinition, column: TableColumn, declared: Column | None
) -> tuple[str | bool | None, ...]:
    extras, type_ = None, column.type.simpleString().upper()
    if declared is not None and not isinstance(declared, ComputedColumn):
        type_ = str(declared.type).removesuffix(" NOT NULL")
    if isinstance(declared, ComputedColumn):
        extras = f"AS {declared.expression.text}"
    elif isinstance(declared, MetadataColumn):
        extras = "METADATA" + (f" FROM '{declared.key}'" if declared.key else "")
        extras += " VIRTUAL" if declared.is_virtual else ""
    key = f"PRI({', '.join(table.key_columns)})" if column.name in table.key_columns else None
    watermark = table.watermark
    mark = watermark.expression.text if watermark is not None and watermark.column == column.name else None
    return column.name, type_, column.nullable, key, extras, mark, column.comment


def _is_table(definition: Definition) -> bool:
    return isinstance(definition, TableDefinition)


def _fits(statement: Show, name: str) -> bool:
    if statement.pattern is None:
        return True
    parts = (".*" if char == "%" else "." if char == "_" else re.escape(char) for char in statement.pattern)
    return (re.fullmatch("".join(parts), name, re.DOTALL) is not None) != statement.is_negated
