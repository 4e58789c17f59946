"""Folders of parquet files as a sink of pipelines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import pyarrow as pa
from pyspark.sql import types as sql

from millrace.contracts import (
    ChangeBatch,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    PipelineTable,
    SchemaChangeType,
    SinkCapabilities,
)
from millrace.errors import SchemaError
from millrace.pyspark_internals import to_arrow_schema
from millrace_catalog.jvm import HadoopFolder, hadoop_configuration, session_jvm
from millrace_catalog.sinks.columns import check_case
from millrace_catalog.sinks.parquet import APPENDED, ParquetSink
from millrace_catalog.types import Schema
from millrace_catalog.types.spark import from_spark_schema, to_spark_schema
from millrace_cdc.connectors.dropped_targets import added_columns, check_columns, check_types, missing_table
from millrace_cdc.connectors.failing_tables import blamed_on
from millrace_cdc.connectors.missing_old_rows import with_missing_old_rows
from millrace_cdc.connectors.parquet.file_writer import POSITION, ParquetFileWriter, ParquetTarget
from millrace_cdc.connectors.parquet.options import ParquetSinkOptions
from millrace_cdc.connectors.table_changes.grouping import collect_results
from millrace_cdc.connectors.table_files.concurrency import each_table
from millrace_cdc.connectors.table_files.file_system import FILE_PROPERTIES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_AT_ONCE = 4
_POSITION_TYPES = (sql.StringType(), sql.IntegerType(), sql.LongType(), sql.TimestampType())


class _Folder(NamedTuple):
    """The folder of a table: its columns, and the name of the file that defines them."""

    columns: Schema
    columns_file: str


class ParquetPipelineSink(PipelineSink):
    """Folders of parquet files with all changes of tables, as rows with kinds."""

    Options = ParquetSinkOptions
    options: ParquetSinkOptions

    def __init__(self, options: ParquetSinkOptions) -> None:
        super().__init__(options)
        self._folders: dict[str, _Folder] = {}

    @property
    def capabilities(self) -> SinkCapabilities:
        """New tables and columns, and wider types; each micro-batch once."""
        changes: frozenset[SchemaChangeType] = frozenset({"create.table", "add.column", "alter.column.type"})
        return with_missing_old_rows(SinkCapabilities(changes, "exactly-once"), self.options.updates_without_old_row)

    def check(self, spark: SparkSession) -> None:
        """Check that it is a classic session: see `PipelineSink.check`."""
        session_jvm(spark, "sink parquet")

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> list[PipelineDestination]:
        """Look for the folders of tables: see `PipelineSink.destinations`."""
        spark = session()
        return each_table(lambda table: self._destination(spark, table), tables, _AT_ONCE)

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Create folders and change their columns: see `PipelineSink.apply`."""
        # The last change of a table has all columns
        tables = {change.table.id: change.table for change in changes}
        added = added_columns(changes)
        each_table(lambda table: self._prepare(spark, table, added[table.id]), tables.values(), _AT_ONCE)

    def write(self, batch: ChangeBatch) -> None:
        """Write files of all tables in one job, and move them into the folders: see `PipelineSink.write`."""
        spark = batch.spark
        each_table(lambda table: self._check(spark, table), batch.tables.values(), _AT_ONCE)
        hadoop = hadoop_configuration(spark, {})
        hadoop_values = {name: hadoop.get(name) for name in FILE_PROPERTIES}
        properties = tuple((name, value) for name, value in hadoop_values.items() if value)
        targets = {name: self._target(name, properties) for name in batch.tables}
        prefix = f"{batch.pipeline[:8]}-{batch.id:08d}"
        files = collect_results(batch, ParquetFileWriter(targets, prefix), dict.fromkeys(batch.tables, pa.schema([])))
        each_table(lambda item: self._move(batch, *item), files.items(), _AT_ONCE)

    def _move(self, batch: ChangeBatch, table: str, names: Sequence[str]) -> None:
        folder = HadoopFolder(batch.spark, self._path(table))
        for name in sorted(names):
            # A repeated micro-batch has the same files, and those that are there may be read at this moment
            if not folder.exists(name):
                folder.move(f"{APPENDED}/{name}", name)
        folder.delete(APPENDED)
        batch.note_written(table)

    def _destination(self, spark: SparkSession, table: PipelineTable) -> PipelineDestination:
        path, problem = self._path(table.id), None
        try:
            self._columns(table)
        except SchemaError as error:
            problem = str(error)
        return PipelineDestination(table.id, "folder", path, bool(HadoopFolder(spark, path).names()), problem)

    def _prepare(self, spark: SparkSession, table: PipelineTable, added: frozenset[str] | None) -> None:
        """Create a folder, or change the columns of one that has all but those that are added."""
        sink = ParquetSink(self._path(table.id))
        with blamed_on(table.id):
            columns = from_spark_schema(self._columns(table))
            if added is not None:
                before = self._open(spark, table.id).columns
                check_columns(table.id, (name for name in columns.names if name not in added), before.types)
            sink.prepare(spark, columns)
        self._open(spark, table.id)

    def _check(self, spark: SparkSession, table: PipelineTable) -> None:
        """Check that a folder is there, with the columns of its table."""
        known = self._folders.get(table.id)
        # Whoever changes the columns writes another file of columns
        if known is not None and HadoopFolder(spark, self._path(table.id)).exists(known.columns_file):
            return
        with blamed_on(table.id):
            folder = self._open(spark, table.id)
            check_types(table.id, from_spark_schema(self._columns(table)), folder.columns)

    def _open(self, spark: SparkSession, table: str) -> _Folder:
        sink = ParquetSink(self._path(table))
        columns_file = sink.open(spark)
        if columns_file is None or sink.schema is None:
            self._folders.pop(table, None)
            raise missing_table(table, f"in {self._path(table)}, which holds none")
        folder = self._folders[table] = _Folder(sink.schema, columns_file)
        return folder

    def _columns(self, table: PipelineTable) -> sql.StructType:
        if table.partition_keys:
            raise SchemaError(
                f"sink parquet: table {table.id!r} has partition keys {', '.join(table.partition_keys)}, and its files "
                f"have no partitions: leave 'partition-keys' out of the transform"
            )
        first = sql.StructField(self.options.row_kind_column, sql.StringType())
        positions = [
            sql.StructField(f"{self.options.position_prefix}{name}", type_)
            for name, type_ in zip(POSITION, _POSITION_TYPES, strict=True)
        ]
        check_case(tuple(table.schema.names), f"table {table.id!r}")
        extra = {field.name for field in (first, *positions)}
        if taken := sorted(extra & set(table.schema.names)):
            raise SchemaError(
                f"sink parquet: table {table.id!r} has a column {taken[0]!r} of its own: set 'row-kind-column' or "
                f"'position-columns.prefix' to other names"
            )
        columns = [sql.StructField(field.name, _stored(field.dataType)) for field in table.schema]
        return sql.StructType([first, *columns, *positions])

    def _target(self, table: str, properties: tuple[tuple[str, str], ...]) -> ParquetTarget:
        return ParquetTarget(
            f"{self._path(table)}/{APPENDED}",
            to_arrow_schema(to_spark_schema(self._folders[table].columns)),
            self.options.row_kind_column,
            self.options.position_prefix,
            properties,
        )

    def _path(self, table: str) -> str:
        return f"{self.options.path.rstrip('/')}/{quote(table, safe='. ')}"


def _stored(type_: sql.DataType) -> sql.DataType:
    """Return the type of a file's column: JSON where files have none."""
    if isinstance(type_, sql.VariantType | sql.NullType):
        return sql.StringType()
    if isinstance(type_, sql.ArrayType):
        return sql.ArrayType(_stored(type_.elementType))
    if isinstance(type_, sql.MapType):
        return sql.MapType(type_.keyType, _stored(type_.valueType))
    if isinstance(type_, sql.StructType):
        return sql.StructType([sql.StructField(field.name, _stored(field.dataType)) for field in type_])
    return type_
