"""Databases as a sink of pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from millrace.contracts import (
    ChangeBatch,
    OptionProblem,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    PipelineTable,
    SchemaChangeType,
    SinkCapabilities,
)
from millrace.errors import OptionsError, SchemaError
from millrace.table_names import join_names
from millrace_catalog.sinks.columns import check_case
from millrace_catalog.sinks.jdbc.database import Connection, Database
from millrace_catalog.sinks.jdbc.statements import RowStatements
from millrace_catalog.sinks.jdbc.tables import DatabaseTable, dialect_of
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_catalog.types import Column, Schema, parse_schema, with_nullability
from millrace_catalog.types.spark import from_spark, from_spark_schema
from millrace_cdc.connectors.dropped_targets import added_columns, check_columns, missing_table
from millrace_cdc.connectors.failing_tables import blamed_on
from millrace_cdc.connectors.jdbc.options import JdbcSinkOptions
from millrace_cdc.connectors.jdbc.rows import CHUNK_COLUMNS, ChunkEncoder, RowSettings
from millrace_cdc.connectors.table_changes.changed_keys import key_schema
from millrace_cdc.connectors.table_changes.grouping import map_tables
from millrace_cdc.table_id import TableId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from millrace_catalog.sinks.jdbc.dialect import SqlDialect

PROGRESS_TABLE = "millrace_pipelines"
"""The table with the number of the last micro-batch of each pipeline, which is written in its transaction."""

_PROGRESS_COLUMNS = parse_schema("pipeline STRING NOT NULL, batch BIGINT NOT NULL")
# What a row of a TIMESTAMP without time zone is, once its column has one: see the conversion of rows
_ZONE = "UTC"


class JdbcPipelineSink(PipelineSink):
    """Tables of PostgreSQL or SQLite, which have the rows of their keys."""

    Options = JdbcSinkOptions
    options: JdbcSinkOptions

    def __init__(self, options: JdbcSinkOptions) -> None:
        super().__init__(options)
        self._statements: dict[str, tuple[PipelineTable, RowStatements]] = {}
        self._names: dict[str, str] = {}

    @property
    def capabilities(self) -> SinkCapabilities:
        """New tables, new columns, wider types and emptied tables; each change exactly once, whatever fails."""
        changes: set[SchemaChangeType] = {"create.table", "add.column", "alter.column.type", "truncate.table"}
        return SinkCapabilities(frozenset(changes), "exactly-once", upserts=True, keeps_values=True)

    def problems(self) -> Iterator[OptionProblem]:
        """Yield options that do not go together."""
        try:
            dialect = dialect_of(self.options.url)
        except OptionsError as error:
            yield OptionProblem("url", error.problems[0])
            return
        if self.options.schema_name is not None and not dialect.has_schemas:
            yield OptionProblem("schema-name", "SQLite has no schemas: leave 'schema-name' out")

    def can_widen(self, before: DataType, after: DataType) -> bool:
        """Return whether the database keeps the values: SQLite makes no text of bytes."""
        kinds = [self._dialect.stored(from_spark(type_)).kind for type_ in (before, after)]
        return not self._dialect.rebuilds_table or kinds[0] != "VARBINARY" or kinds[1] == kinds[0]

    def check(self, spark: SparkSession) -> None:
        """Connect to the database, so that a missing driver is reported before the start."""
        with self._database.connection(spark, "be prepared for a pipeline") as connection:
            self._progress_table.fit(connection, _PROGRESS_COLUMNS, ("pipeline",), _ZONE)
            connection.commit()

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> list[PipelineDestination]:
        """Look up tables in the database: see `PipelineSink.destinations`."""
        with self._database.connection(session(), "be inspected") as connection:
            return [self._destination(connection, table) for table in tables]

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Create and change tables, all in one transaction: see `PipelineSink.apply`."""
        tables = {change.table.id: change.table for change in changes}
        added = added_columns(changes)
        with self._database.connection(spark, f"prepare {_listed(tables)}") as connection:
            for table in tables.values():
                self._apply(connection, table, added[table.id])
            connection.commit()

    def write(self, batch: ChangeBatch) -> None:
        """Write the last state of each key, of all tables in one transaction: see `PipelineSink.write`."""
        try:
            self._write(batch)
        except TableSinkError as error:
            if not error.is_transient:
                self._look_for_dropped(batch)
            raise

    def _write(self, batch: ChangeBatch) -> None:
        with self._database.connection(batch.spark, f"write micro-batch {batch.id}") as connection:
            # 1. Whoever has written the micro-batch has left its number; who writes at the same time is waited for
            if not self._claim(connection, batch):
                return
            # 2. The columns of tables that are new or have changed
            statements = {name: self._statements_of(connection, table) for name, table in batch.tables.items()}
            for name in sorted(batch.truncated):
                with self._database.translated_errors(f"empty table {name}", name):
                    connection.execute(statements[name].delete_all)
            # 3. Rows come in chunks, as the executors have encoded them
            for chunk in self._chunks(batch, statements).toLocalIterator(prefetchPartitions=True):
                target = statements[chunk["table"]]
                with self._database.translated_errors(f"write table {target.table}", chunk["table"]):
                    kept_names = chunk["kept"]
                    statement = target.upsert_keeping(kept_names) if kept_names else getattr(target, chunk["action"])
                    connection.write(statement, chunk["rows"])
                batch.note_written(chunk["table"])
            connection.commit()

    @property
    def _dialect(self) -> SqlDialect:
        return dialect_of(self.options.url)

    @property
    def _database(self) -> Database:
        return Database(self.options.url, self.options.driver_properties(), self._dialect)

    @property
    def _progress_table(self) -> DatabaseTable:
        schema = self.options.schema_name
        name = join_names([PROGRESS_TABLE] if schema is None else [schema, PROGRESS_TABLE])
        return DatabaseTable(self._dialect, name, f"table {name!r}")

    def _apply(self, connection: Connection, table: PipelineTable, added: frozenset[str] | None) -> None:
        with blamed_on(table.id), self._database.translated_errors(f"prepare table {table.id}", table.id):
            _refuse_layout(table)
            target = self._table(table.id)
            columns = _columns_of(table)
            if added is not None:
                self._check(connection, table.id, [name for name in columns.names if name not in added])
            target.fit(connection, columns, table.primary_key, _ZONE)
        self._statements.pop(table.id, None)

    def _destination(self, connection: Connection, table: PipelineTable) -> PipelineDestination:
        name = self._name(table.id)
        try:
            target = self._table(table.id)
            check_case(tuple(table.schema.names), f"table {table.id!r}")
            exists = target.stored_columns(connection, _columns_of(table).names) is not None
            _refuse_layout(table)
        except SchemaError as error:
            return PipelineDestination(table.id, "table", name, None, str(error))
        return PipelineDestination(table.id, "table", name, exists)

    def _claim(self, connection: Connection, batch: ChangeBatch) -> bool:
        """Store the micro-batch's number, and return whether it is new."""
        pipeline = "'" + batch.pipeline.replace("'", "''") + "'"
        name = self._dialect.quote_table(self._progress_table.name)
        update = f"batch = excluded.batch WHERE {PROGRESS_TABLE}.batch < excluded.batch"
        insert = f"INSERT INTO {name} (pipeline, batch) VALUES ({pipeline}, {batch.id})"  # noqa: S608 (quoted)
        return connection.execute(f"{insert} ON CONFLICT (pipeline) DO UPDATE SET {update}") > 0

    def _statements_of(self, connection: Connection, table: PipelineTable) -> RowStatements:
        cached = self._statements.get(table.id)
        if cached is not None and cached[0] == table:
            return cached[1]
        with blamed_on(table.id):
            target, columns = self._table(table.id), _columns_of(table)
            stored = self._check(connection, table.id, columns.names)
            statements = RowStatements.of(self._dialect, target.name, columns, stored, table.primary_key)
        self._statements[table.id] = table, statements
        return statements

    def _check(self, connection: Connection, table: str, columns: Sequence[str]) -> Schema:
        """Return the columns of a table of the database, which must be there, some columns included."""
        target = self._table(table)
        stored = target.stored_columns(connection, columns)
        if stored is None:
            raise missing_table(table, f"{target.name} in the database, which does not have it")
        check_columns(table, columns, stored.types)
        return stored

    def _look_for_dropped(self, batch: ChangeBatch) -> None:
        """Name the table or column that somebody has dropped, after the database has refused rows."""
        self._statements.clear()
        with self._database.connection(batch.spark, "be inspected") as connection:
            for table in batch.tables.values():
                self._statements_of(connection, table)

    def _chunks(self, batch: ChangeBatch, statements: Mapping[str, RowStatements]) -> DataFrame:
        dialect = self._dialect
        keys = {name: key_schema(table) for name, table in batch.tables.items()}
        recodings = {name: table_statements.recoding for name, table_statements in statements.items()}
        settings = RowSettings(recodings, keys, dialect.has_nul, type(dialect).__name__, self.options.batch_rows)
        return map_tables(batch, ChunkEncoder(settings), keys, CHUNK_COLUMNS)

    def _table(self, table: str) -> DatabaseTable:
        name = self._name(table)
        other = self._names.setdefault(name.lower(), table)
        if other != table:
            raise SchemaError(
                f"tables {other!r} and {table!r} would both be {name} in the database: give one of them another name "
                f"by 'route'"
            )
        return DatabaseTable(self._dialect, name, f"table {table!r}")

    def _name(self, table: str) -> str:
        id_ = TableId.parse(table)
        schema = (self.options.schema_name or id_.schema) if self._dialect.has_schemas else None
        return join_names([id_.table] if schema is None else [schema, id_.table])


def _columns_of(table: PipelineTable) -> Schema:
    """Return a table's columns. Those of its key are NOT NULL; any other may become NULL."""
    columns = from_spark_schema(table.schema)
    return Schema(
        tuple(
            Column(column.name, with_nullability(column.type, column.name not in table.primary_key))
            for column in columns
        )
    )


def _refuse_layout(table: PipelineTable) -> None:
    layout = {"partition-keys": table.partition_keys, "table-options": table.options}
    for name, value in layout.items():
        if value:
            raise SchemaError(
                f"table {table.id!r} has {name!r}, which sink jdbc does not know: leave them out, or create the table "
                f"by hand before the first start"
            )


def _listed(names: Mapping[str, object]) -> str:
    first = next(iter(names))
    return f"table {first}" if len(names) == 1 else f"{len(names)} tables"
