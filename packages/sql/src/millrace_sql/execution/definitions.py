"""Run the statements that create, change and remove definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from millrace.errors import SchemaError
from millrace.options.secrets import Properties
from millrace.options.suggestions import closest
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.spark import from_spark_schema
from millrace_sql.definitions.alterations import change_columns, without_places
from millrace_sql.definitions.checks import check_definition, check_name
from millrace_sql.definitions.like import merge_like
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import CONNECTOR, Definition, TableDefinition, ViewDefinition, shown
from millrace_sql.errors import SqlError
from millrace_sql.execution.creation_checks import located
from millrace_sql.planner.model import TableLookup
from millrace_sql.script_texts import Identifier, ScriptPosition, SqlText
from millrace_sql.statements import AlterTable, CreateTable, CreateView, Drop, PhysicalColumn

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

QuerySchema = Callable[[SqlText, TableLookup | None], "StructType"]
"""Return the columns of a query's result, without row kinds."""


class DefinitionRunner:
    """Create, change and remove tables and views.

    Args:
        catalogs: The definitions.
        query_schema: Finds the columns of queries.
        check_table: Raises a MillraceError for a table that its connector does not have.
    """

    def __init__(
        self, catalogs: CatalogManager, query_schema: QuerySchema, check_table: Callable[[TableDefinition], None]
    ) -> None:
        self._catalogs = catalogs
        self._query_schema = query_schema
        self._check_table = check_table

    def create_table(self, statement: CreateTable) -> TableDefinition | None:
        """Create a table, and return it; None when IF NOT EXISTS finds it there.

        Raises:
            SqlError: It cannot be created.
        """
        check_name(statement.table, "table")
        name = self._catalogs.resolve(statement.table)
        table = TableDefinition(
            name,
            statement.columns,
            statement.primary_key,
            statement.watermark,
            statement.comment,
            statement.partition_keys,
            Properties(statement.options),
            statement.is_temporary,
        )
        if statement.like is not None:
            table = merge_like(table, self._table(statement.like.table), statement.like, statement.position)
        if statement.query is not None:
            table = replace(table, columns=self._columns_of_query(statement, statement.query))
        table = check_definition(table, statement.position)
        self._check(table, statement.options, statement.position)
        created = self._catalogs.create(table, or_replace=statement.or_replace, if_not_exists=statement.if_not_exists)
        return table if created else None

    def create_view(self, statement: CreateView) -> None:
        """Create a view.

        Raises:
            SqlError: It cannot be created, or its query is wrong.
        """
        check_name(statement.view, "view")
        # Finds mistakes in the query now, not where the view is used
        schema = self._query_schema(statement.query, None)
        if statement.columns and len(statement.columns) != len(schema):
            raise SqlError(
                f"view {shown(statement.view)} names {len(statement.columns)} columns, and its query has "
                f"{len(schema)} ({', '.join(map(quote_name, schema.names))})",
                statement.position,
            )
        view = ViewDefinition(
            self._catalogs.resolve(statement.view),
            # Its place is one in this script, not in those that use the view
            SqlText(statement.query.text),
            statement.columns,
            self._catalogs.current_catalog,
            self._catalogs.current_database,
            statement.comment,
            statement.is_temporary,
        )
        self._catalogs.create(view, or_replace=statement.or_replace, if_not_exists=statement.if_not_exists)

    def alter_table(self, statement: AlterTable) -> None:
        """Change the options, the columns or the name of a table.

        Raises:
            SqlError: There is no such table, an option to reset is not set, or columns cannot change so.
        """
        name = self._catalogs.resolve(statement.table)
        if statement.if_exists and self._catalogs.find(name) is None:
            return
        table = self._table(statement.table)
        if statement.new_name is not None:
            renamed = self._catalogs.resolve(statement.new_name, *name.parts[:2])
            self._catalogs.rename(table, replace(table, identifier=renamed))
            return
        if statement.column_changes is not None:
            changed = change_columns(table, statement.column_changes, statement.position)
            self._check(changed, {}, statement.position)
            self._catalogs.replace(without_places(changed))
            return
        table = without_places(table)
        options = {**table.options, **statement.set_options}
        for key in statement.reset_options:
            if key not in options:
                close = closest(key, options)
                hint = f"; did you mean {close!r}?" if close else ""
                raise SqlError(f"table {shown(name)} does not set option {key!r}{hint}", statement.position)
            if key == CONNECTOR:
                raise SqlError("the option 'connector' is required, and cannot be reset", statement.position)
            del options[key]
        changed = replace(table, options=Properties(options))
        self._check(changed, statement.set_options, statement.position)
        self._catalogs.replace(changed)

    def drop(self, statement: Drop) -> None:
        """Remove a table, view, catalog or database.

        Raises:
            SqlError: There is none of that kind.
        """
        if statement.kind == "CATALOG":
            self._catalogs.drop_catalog(
                statement.name.parts[-1], if_exists=statement.if_exists, position=statement.name.position
            )
        elif statement.kind == "DATABASE":
            self._catalogs.drop_database(statement.name, if_exists=statement.if_exists, is_cascade=statement.is_cascade)
        else:
            self._drop_object(statement)

    def _drop_object(self, statement: Drop) -> None:
        name = self._catalogs.resolve(statement.name)
        definition = self._catalogs.find(name)
        if definition is None and statement.if_exists:
            return
        definition = self._catalogs.get(name) if definition is None else definition
        is_table = isinstance(definition, TableDefinition)
        if is_table != (statement.kind == "TABLE"):
            kind = "table" if is_table else "view"
            raise SqlError(f"{shown(name)} is a {kind}: write DROP {kind.upper()}", statement.name.position)
        if definition.is_temporary != statement.is_temporary:
            word = "DROP TEMPORARY" if definition.is_temporary else "DROP"
            raise SqlError(
                f"{shown(name)} is {'' if definition.is_temporary else 'not '}temporary: write {word} {statement.kind}",
                statement.name.position,
            )
        self._catalogs.drop(definition)

    def _check(self, table: TableDefinition, options: Mapping[str, str], position: ScriptPosition) -> None:
        """Check a table with its connector, and place what it says about options and columns in the statement."""
        with located(table, options, position):
            self._check_table(table)

    def _table(self, name: Identifier) -> TableDefinition:
        definition: Definition = self._catalogs.get(self._catalogs.resolve(name))
        if not isinstance(definition, TableDefinition):
            raise SqlError(f"{shown(name)} is a view, and this needs a table", name.position)
        return definition

    def _columns_of_query(self, statement: CreateTable, query: SqlText) -> tuple[PhysicalColumn, ...]:
        if statement.columns:
            raise SqlError("AS SELECT takes the columns from its query: leave out the list", statement.position)
        schema = self._query_schema(query, None)
        try:
            columns = from_spark_schema(schema)
        except SchemaError as error:
            raise SqlError(f"CREATE TABLE {shown(statement.table)} AS SELECT: {error}", query.position) from error
        except ValueError as error:
            raise SqlError(f"AS SELECT: {error}; give them names with AS", query.position) from error
        return tuple(PhysicalColumn(column.name, column.type) for column in columns)
