"""Tables as queries use them: described for their connector, with the Spark types of all their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from millrace.contracts import (
    ROW_KIND_COLUMN,
    ChangelogMode,
    ScanContext,
    TableColumn,
    TableDescription,
    TableFactory,
    TableSink,
    TableSource,
)
from millrace.failures import reason_of
from millrace.options.secrets import Properties, is_secret
from millrace_catalog.types.identifiers import backquote, quote_name
from millrace_catalog.types.spark import to_spark
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.connectors.lookup import table_factory
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import CONNECTOR, DataFrameView, TableDefinition, ViewDefinition, shown
from millrace_sql.definitions.secrets import References
from millrace_sql.errors import SqlError
from millrace_sql.execution.creation_checks import check_with_factory
from millrace_sql.execution.watermarks import with_watermark
from millrace_sql.planner import rewrite_expression
from millrace_sql.planner.model import ChangingTable, InputColumn, InputTable, TableLookup, ViewQuery
from millrace_sql.planner.user_functions import FunctionLookup, no_functions
from millrace_sql.script_texts import Identifier, SqlText
from millrace_sql.statements import Column, ComputedColumn, MetadataColumn, Watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_MAX_DRIFT, _IDLE_TIMEOUT = "scan.watermark.alignment.max-drift", "scan.watermark.idle-timeout"


@dataclass(frozen=True)
class BoundTable(ChangingTable):
    """A table with its connector.

    Attributes:
        description: The table as its connector sees it.
        factory: Makes its source and sink.
        watermark: Its watermark.
    """

    description: TableDescription
    factory: TableFactory
    watermark: Watermark | None = None

    @property
    def source(self) -> TableSource:
        """The reader of the table."""
        return self.factory.source(self.description)

    @property
    def sink(self) -> TableSink:
        """The writer of the table."""
        return self.factory.sink(self.description)

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Return its columns, computed ones and the watermark included; with row kinds unless it is insert-only."""
        rows = self._with_columns(self.source.read(spark, scan))
        if self.watermark is None or not rows.isStreaming:
            return rows
        return with_watermark(rows, self.watermark)

    def changes(self, spark: SparkSession, since: str | None) -> DataFrame | None:
        """Return the last change of each key since a position, without computed columns."""
        return self.source.read_changes(spark, since)

    def changes_end(self, changes: DataFrame, since: str | None) -> tuple[str | None, int]:
        """Return the position after changes, and their number."""
        return self.source.changes_end(changes, since)

    def rows(self, kept_rows: DataFrame) -> DataFrame:
        """Return its columns, computed ones included, of rows that were kept."""
        return self._with_columns(kept_rows.drop(ROW_KIND_COLUMN))

    def _with_columns(self, rows: DataFrame) -> DataFrame:
        columns = self.description.columns
        names = [column.name for column in columns]
        if ROW_KIND_COLUMN in rows.columns:
            names.append(ROW_KIND_COLUMN)
        if rows.columns != names:
            rows = rows.select(*(_selected(column) for column in columns), *names[len(columns) :])
        return rows


@dataclass(frozen=True)
class BoundDataFrame:
    """A DataFrame that a query reads by the name of its view.

    Attributes:
        rows: The DataFrame.
    """

    rows: DataFrame

    def read(self, spark: SparkSession, scan: ScanContext) -> DataFrame:
        """Return the DataFrame."""
        return self.rows


class Tables:
    """Find tables by name, for queries.

    Args:
        spark: The session.
        catalogs: The definitions.
        references: Values of references in options.
        configuration: The settings.
        functions: Finds the user-defined functions of computed columns.
    """

    def __init__(
        self,
        spark: SparkSession,
        catalogs: CatalogManager,
        references: References,
        configuration: SessionConfiguration,
        functions: FunctionLookup = no_functions,
    ) -> None:
        self._spark = spark
        self._functions = functions
        self._catalogs = catalogs
        self._references = references
        self._configuration = configuration

    def lookup(self, catalog: str | None = None, database: str | None = None) -> TableLookup:
        """Return a function that finds what a query names, in a catalog and database instead of the current ones."""

        def find(name: Identifier, hint: Mapping[str, str]) -> InputTable:
            return self.input_table(self._catalogs.resolve(name, catalog, database), hint)

        return find

    def input_table(self, name: Identifier, hint: Mapping[str, str]) -> InputTable:
        """Return a table or view by its whole name.

        Raises:
            SqlError: There is none, or it is a view and has a hint.
        """
        definition = self._catalogs.get(name)
        if isinstance(definition, TableDefinition):
            bound = self.bind(definition, hint)
            source = bound.source
            return InputTable(
                definition.identifier,
                _input_columns(bound),
                bound.description.primary_key,
                source.changelog_mode,
                is_bounded=source.is_bounded,
                is_static=source.is_static,
                raw_changelog_mode=source.raw_changelog_mode,
                changing=bound,
                origin=bound,
            )
        if hint:
            raise SqlError(
                f"{shown(name)} is a view: OPTIONS are a hint for tables; give them in its query", name.position
            )
        if isinstance(definition, ViewDefinition):
            tables = self.lookup(definition.catalog, definition.database)
            return InputTable(definition.identifier, (), view=ViewQuery(definition.query, definition.columns, tables))
        return _data_frame_table(definition)

    def columns(self, definition: TableDefinition) -> tuple[TableColumn, ...]:
        """Return the columns of a table; only one that declares none needs the values of references, and its connector.

        Raises:
            SqlError, PluginError, SchemaError: As `bind`.
        """
        description = _described(definition, {})
        if not description.physical_columns:
            return self.bind(definition).description.columns
        return self._with_computed(definition, description)

    def check(self, definition: TableDefinition) -> None:
        """Check a table that is created, where its connector can do so without asking another machine.

        References to secrets need no value yet. Where another one has none, options are checked when the table is used.

        Raises:
            PluginError: There is no such connector.
            OptionsError: An option is wrong or unknown.
            SchemaError: The connector has no such columns.
            SqlError: Spark refuses a computed column.
        """
        options, without_value = self._references.resolve_known(definition.options)
        factory = table_factory(definition.options[CONNECTOR], self._spark)
        description = _described(definition, {name: text for name, text in options.items() if name != CONNECTOR})
        if all(map(is_secret, without_value)):
            check_with_factory(factory, description, without_value)
        if description.physical_columns:
            self._with_computed(definition, description, is_in_script=True)

    def bind(self, definition: TableDefinition, hint: Mapping[str, str] | None = None) -> BoundTable:
        """Return a table with its connector, and the options of a hint in place of its own.

        Raises:
            SqlError: A reference in its options has no value, or Spark refuses a computed column.
            PluginError: There is no such connector.
            SchemaError: Its columns cannot be determined.
        """
        name = shown(definition.identifier)
        options = dict(self._references.resolve(name, {**definition.options, **(hint or {})}))
        factory = table_factory(options.pop(CONNECTOR), self._spark)
        description = _described(definition, self._with_session_options(options))
        if not description.physical_columns:
            description = replace(description, columns=factory.infer_columns(description, self._spark))
        description = replace(
            description,
            columns=self._with_computed(definition, description),
            cdc_events_duplicate=self._configuration.options.cdc_events_duplicate,
        )
        return BoundTable(description, factory, definition.watermark)

    def declared(self, definition: TableDefinition, hint: Mapping[str, str] | None = None) -> TableDescription:
        """Return a table with the columns that it declares only; of computed ones the types are not determined.

        Raises:
            SqlError: A reference in its options has no value.
        """
        from pyspark.sql.types import NullType

        unresolved = {**definition.options, **(hint or {})}
        options = dict(self._references.resolve(shown(definition.identifier), unresolved))
        options.pop(CONNECTOR)
        description = _described(definition, options)
        computed = (
            TableColumn(
                column.name,
                NullType(),
                expression=self._rewritten(SqlText(column.expression.text)),
            )
            for column in definition.computed_columns
        )
        return replace(description, columns=(*description.columns, *computed))

    def _with_session_options(self, options: dict[str, str]) -> dict[str, str]:
        names = {name.lower() for name in options}
        timeout = self._configuration.options.idle_timeout_ms
        if timeout and _MAX_DRIFT in names and _IDLE_TIMEOUT not in names:
            return {**options, _IDLE_TIMEOUT: f"{timeout} ms"}
        return options

    def _rewritten(self, expression: SqlText) -> str:
        return rewrite_expression(expression, is_spark=self._configuration.is_spark, functions=self._functions)

    def _with_computed(
        self, definition: TableDefinition, description: TableDescription, *, is_in_script: bool = False
    ) -> tuple[TableColumn, ...]:
        """Return the columns in the order of the statement; inferred ones come last.

        Args:
            definition: The table.
            description: What it has without computed columns.
            is_in_script: Whether the places of its columns are those of the script that runs.
        """
        from pyspark.sql import functions as fn

        if not definition.computed_columns:
            return description.columns

        empty = self._spark.createDataFrame([], _schema(description.columns))
        others = {column.name: column for column in description.columns}
        columns: list[TableColumn] = []
        for column in definition.columns:
            if not isinstance(column, ComputedColumn):
                columns.append(others.pop(column.name))
                continue
            expression = self._rewritten(column.expression if is_in_script else SqlText(column.expression.text))
            try:
                field = empty.select(fn.expr(expression).alias(column.name)).schema[0]
            except Exception as error:
                raise SqlError(
                    f"table {shown(definition.identifier)}, computed column {quote_name(column.name)}: "
                    f"{reason_of(error)}",
                    column.expression.position if is_in_script else None,
                ) from error
            columns.append(
                TableColumn(
                    column.name,
                    field.dataType,
                    field.nullable,
                    expression=expression,
                    comment=column.comment,
                )
            )
        return (*columns, *others.values())


def _described(definition: TableDefinition, options: Mapping[str, str]) -> TableDescription:
    declared = [column for column in definition.columns if not isinstance(column, ComputedColumn)]
    catalog, database, table = definition.identifier.parts
    return TableDescription(
        (catalog, database, table),
        tuple(map(_table_column, declared)),
        definition.key_columns,
        definition.partition_keys,
        Properties(options),
        definition.comment,
    )


def _selected(column: TableColumn) -> object:
    from pyspark.sql import functions as fn

    if column.expression is None:
        return fn.col(backquote(column.name))
    # Parsed as one expression, so that a text cannot become another part of the query
    return fn.expr(column.expression).alias(column.name)


def _schema(columns: tuple[TableColumn, ...]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(column.name, column.type, column.nullable) for column in columns])


def _table_column(column: Column) -> TableColumn:
    if isinstance(column, ComputedColumn):
        raise TypeError("expected a column with a type")
    type_ = to_spark(column.type)
    if isinstance(column, MetadataColumn):
        key = column.name if column.key is None else column.key
        return TableColumn(column.name, type_, column.type.nullable, key, column.is_virtual, comment=column.comment)
    return TableColumn(column.name, type_, column.type.nullable, comment=column.comment)


def _input_columns(bound: BoundTable) -> tuple[InputColumn, ...]:
    event_time = None if bound.watermark is None else bound.watermark.column.lower()
    return tuple(
        InputColumn(
            column.name,
            column.type,
            column.nullable,
            column.name.lower() == event_time,
            column.is_physical,
            column.expression,
        )
        for column in bound.description.columns
    )


def _data_frame_table(view: DataFrameView) -> InputTable:
    fields = [field for field in view.rows.schema if field.name != ROW_KIND_COLUMN]
    has_kinds = len(fields) < len(view.rows.columns)
    return InputTable(
        view.identifier,
        tuple(InputColumn(field.name, field.dataType, field.nullable) for field in fields),
        changelog_mode=ChangelogMode.ALL if has_kinds else ChangelogMode.INSERT_ONLY,
        is_bounded=not view.rows.isStreaming,
        is_static=not view.rows.isStreaming,
        origin=BoundDataFrame(view.rows),
    )
