"""Tables of Iceberg as a sink of pipelines."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from millrace.contracts import (
    ChangeBatch,
    OptionProblem,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    PipelineTable,
    SinkCapabilities,
)
from millrace.errors import MachineError, SchemaError
from millrace_cdc.connectors.dropped_targets import added_columns, missing_table
from millrace_cdc.connectors.failing_tables import blamed_on
from millrace_cdc.connectors.iceberg.catalog import IcebergCatalog, IcebergTable
from millrace_cdc.connectors.iceberg.file_writer import IcebergFileWriter
from millrace_cdc.connectors.iceberg.options import IcebergSinkOptions
from millrace_cdc.connectors.iceberg.partitioning import PartitionField, check_fields
from millrace_cdc.connectors.iceberg.schema import arrow_schema, can_promote, iceberg_schema, iceberg_type, without_ids
from millrace_cdc.connectors.table_changes.changed_keys import key_schema
from millrace_cdc.connectors.table_changes.grouping import collect_results
from millrace_cdc.connectors.table_changes.kept_values import PARTIAL_KEY_COLUMNS, partial_keys
from millrace_cdc.connectors.table_files.compaction import SMALL_FILES, CompactionHints, small_files
from millrace_cdc.connectors.table_files.concurrency import each_table
from millrace_cdc.rows import exact_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

_AT_ONCE = 8
_COMPACTION = (
    "compact it, by CALL system.rewrite_data_files('{0}') of Iceberg's procedures in Spark, or ALTER TABLE {0} EXECUTE "
    "optimize in Trino"
)
_SPARK_CATALOG = "spark.sql.catalog."
_CATALOGS = ("type", "catalog-impl")
_PLAIN_TYPES = {"boolean", "int", "long", "date", "string"}
"""Types whose values in JSON are those of Iceberg's expressions."""


class IcebergPipelineSink(PipelineSink):
    """Tables of Iceberg that follow those of a source, by their primary keys."""

    Options = IcebergSinkOptions
    options: IcebergSinkOptions

    def __init__(self, options: IcebergSinkOptions) -> None:
        super().__init__(options)
        self._catalog: IcebergCatalog | None = None
        self._is_first = True
        self._deletes = CompactionHints(
            options.delete_file_warning, "delete files, which every reader applies", _COMPACTION
        )
        self._files = CompactionHints(options.small_file_warning, SMALL_FILES, _COMPACTION)

    @property
    def capabilities(self) -> SinkCapabilities:
        """New tables and columns, types that Iceberg can make wider, and TRUNCATE; each micro-batch once."""
        changes: Any = {"create.table", "add.column", "alter.column.type", "truncate.table"}
        return SinkCapabilities(frozenset(changes), "exactly-once", upserts=True, keeps_values=True)

    def can_widen(self, before: DataType, after: DataType) -> bool:
        """Return whether Iceberg can: see `PipelineSink.can_widen`."""
        old, new = iceberg_type(before), iceberg_type(after)
        return without_ids(old) == without_ids(new) or can_promote(old, new)

    def problems(self) -> Iterator[OptionProblem]:
        """Yield options that do not go together."""
        properties = dict(self.options.catalog_properties)
        if (self.options.catalog is None) == (not properties):
            yield OptionProblem(
                "catalog",
                "either 'catalog', the name of a catalog in Spark's settings, or 'catalog.properties.*' is needed, "
                "such as catalog.properties.type: hadoop and catalog.properties.warehouse: /warehouse",
            )
        elif properties and not any(name in properties for name in _CATALOGS):
            yield OptionProblem(
                "catalog.properties.type",
                "'catalog.properties.type' (hadoop, hive, rest, jdbc, glue) or 'catalog.properties.catalog-impl' is "
                "needed",
            )

    def check(self, spark: SparkSession) -> None:
        """Open the catalog: see `PipelineSink.check`."""
        self._open(spark)

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> list[PipelineDestination]:
        """Look up tables in the catalog: see `PipelineSink.destinations`."""
        catalog = self._open(session())
        return each_table(lambda table: self._destination(catalog, table), tables, _AT_ONCE)

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Create tables and change columns, each table in one commit: see `PipelineSink.apply`."""
        catalog = self._open(spark)
        # The last change of a table has all columns
        tables = {change.table.id: change.table for change in changes}
        added = added_columns(changes)
        each_table(lambda table: self._prepare(catalog, table, added[table.id]), tables.values(), _AT_ONCE)

    def write(self, batch: ChangeBatch) -> None:
        """Write the files of all tables in one job, and commit each table: see `PipelineSink.write`."""
        catalog = self._open(batch.spark)
        iceberg_tables = each_table(lambda table: self._table(catalog, table), batch.tables.values(), _AT_ONCE)
        tables = dict(zip(batch.tables, iceberg_tables, strict=True))
        # The next one may be this one again
        is_first, self._is_first = self._is_first, True
        if is_first:
            # Those of a repeated micro-batch that the run before has committed
            last = each_table(lambda table: table.last_batch(batch.pipeline), tables.values(), _AT_ONCE)
            is_new = [number is None or number < batch.id for number in last]
            tables = dict(itertools.compress(tables.items(), is_new))
        if tables:
            self._write(batch, tables)
        self._is_first = False

    def _write(self, batch: ChangeBatch, tables: Mapping[str, IcebergTable]) -> None:
        keys = {name: batch.tables[name].primary_key for name in tables}
        targets = {name: table.target(keys[name]) for name, table in tables.items()}
        kept_rows = {} if batch.partial.isdisjoint(tables) else self._kept_values(batch, tables)
        writer = IcebergFileWriter(targets, f"{batch.pipeline[:8]}-{batch.id:08d}", kept_rows)
        results = collect_results(batch, writer, {name: key_schema(batch.tables[name]) for name in tables})
        entries = {name: [entry for text in texts for entry in json.loads(text)] for name, texts in results.items()}
        written = [name for name in tables if entries.get(name) or name in batch.truncated]
        for name in batch.tables.keys() - set(written):
            batch.note_written(name)
        each_table(lambda name: self._commit(tables[name], name, entries.get(name, ()), batch), written, _AT_ONCE)

    def _kept_values(self, batch: ChangeBatch, tables: Mapping[str, IcebergTable]) -> dict[str, bytes]:
        """Return, for tables whose updates lack values, the rows that have these."""
        keys = {name: batch.tables[name].primary_key for name in batch.partial & tables.keys() - batch.truncated}
        keys = {name: key for name, key in keys.items() if key and not tables[name].target(key).is_empty}
        if not keys:
            return {}
        columns: dict[str, set[str]] = {name: set() for name in keys}
        values: dict[str, dict[str, set[Any]]] = {name: {} for name in keys}
        for row in batch.map(lambda batches: partial_keys(batches, keys), PARTIAL_KEY_COLUMNS).collect():
            table = batch.tables[row["table"]]
            columns[table.id].update(row["kept"])
            for column, value in exact_json.decode(bytes(row["key"])).items():
                if iceberg_type(table.schema[column].dataType) in _PLAIN_TYPES:
                    values[table.id].setdefault(column, set()).add(value)
        rows_by_table = {name: tables[name].rows_with(key, columns[name], values[name]) for name, key in keys.items()}
        return {name: rows for name, rows in rows_by_table.items() if rows is not None}

    def _commit(self, table: IcebergTable, name: str, entries: Sequence[Mapping[str, Any]], batch: ChangeBatch) -> None:
        with blamed_on(name):
            columns = batch.tables[name].schema.names
            summary = table.commit(entries, columns, batch.pipeline, batch.id, truncates=name in batch.truncated)
        batch.note_written(name)
        if summary is not None:
            self._deletes.look(name, summary.delete_files, name)
            files = summary.delete_files + summary.data_files
            self._files.look(name, small_files(files, summary.size), name)

    def _destination(self, catalog: IcebergCatalog, table: PipelineTable) -> PipelineDestination:
        existing, problem = catalog.table(table.id), None
        try:
            if existing is None:
                check_fields(arrow_schema(iceberg_schema(table)), self._partition(table), table.id)
            else:
                existing.check(table)
        except SchemaError as error:
            problem = str(error)
        return PipelineDestination(table.id, "table", catalog.name(table.id), existing is not None, problem)

    def _prepare(self, catalog: IcebergCatalog, table: PipelineTable, added: frozenset[str] | None) -> None:
        with blamed_on(table.id):
            if added is not None:
                before = [name for name in table.schema.names if name not in added]
                self._existing(catalog, table).check_columns(before)
            existing = catalog.table(table.id)
            if existing is None:
                catalog.create(table, self._partition(table), {**dict(self.options.table_properties), **table.options})
            else:
                existing.check(table)
                existing.widen(table)

    def _table(self, catalog: IcebergCatalog, table: PipelineTable) -> IcebergTable:
        with blamed_on(table.id):
            iceberg_table = self._existing(catalog, table)
            iceberg_table.check_columns(table.schema.names)
        return iceberg_table

    def _existing(self, catalog: IcebergCatalog, table: PipelineTable) -> IcebergTable:
        iceberg_table = catalog.table(table.id)
        if iceberg_table is None:
            raise missing_table(table.id, f"{catalog.name(table.id)} in the catalog, which does not have it")
        return iceberg_table

    def _partition(self, table: PipelineTable) -> tuple[PartitionField, ...]:
        fields = dict(self.options.partition_keys).get(table.id)
        return fields if fields is not None else tuple(PartitionField(name) for name in table.partition_keys)

    def _open(self, spark: SparkSession) -> IcebergCatalog:
        if self._catalog is None:
            self._catalog = IcebergCatalog(spark, self._properties(spark), dict(self.options.hadoop_conf))
        return self._catalog

    def _properties(self, spark: SparkSession) -> dict[str, str]:
        if self.options.catalog is None:
            return dict(self.options.catalog_properties)
        prefix = f"{_SPARK_CATALOG}{self.options.catalog}."
        settings = {row.key: row.value for row in spark.sql("SET").collect() if row.key.startswith(prefix)}
        if not settings:
            raise MachineError(
                f"sink iceberg: Spark's settings have no {prefix}*, such as {prefix}type=hadoop and "
                f"{prefix}warehouse=/warehouse: give them by --conf, or 'catalog.properties.*' in the file"
            )
        return {name.removeprefix(prefix): value for name, value in settings.items()}
