"""Delta Lake as a sink of pipelines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from millrace.contracts import (
    ChangeBatch,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    SchemaChangeType,
    SinkCapabilities,
)
from millrace.errors import MachineError, SchemaError
from millrace_cdc.connectors.delta.options import DeltaSinkOptions
from millrace_cdc.connectors.delta.rows import CHUNK_COLUMNS, RowEncoder, no_rows, read_rows_of, together
from millrace_cdc.connectors.delta.tables import DeltaSinkTable, arrow_schema, columns_of
from millrace_cdc.connectors.dropped_targets import added_columns
from millrace_cdc.connectors.failing_tables import blamed_on
from millrace_cdc.connectors.table_changes.changed_keys import key_schema
from millrace_cdc.connectors.table_changes.grouping import map_tables
from millrace_cdc.connectors.table_files.compaction import SMALL_FILES, CompactionHints, small_files
from millrace_cdc.connectors.table_files.concurrency import each_table
from millrace_cdc.table_id import table_id

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from millrace.contracts import PipelineTable


class DeltaPipelineSink(PipelineSink):
    """Tables of Delta Lake, which have the rows of their keys."""

    Options = DeltaSinkOptions
    options: DeltaSinkOptions

    def __init__(self, options: DeltaSinkOptions) -> None:
        super().__init__(options)
        self._files = CompactionHints(
            options.small_file_warning,
            SMALL_FILES,
            "compact it, by DeltaTable('{0}').optimize.compact() in Python, or OPTIMIZE delta.`{0}` in Spark with "
            "Delta's plugin",
        )

    @property
    def capabilities(self) -> SinkCapabilities:
        """New tables, new columns, wider types and emptied tables; each change exactly once, whatever fails."""
        changes: set[SchemaChangeType] = {"create.table", "add.column", "alter.column.type", "truncate.table"}
        return SinkCapabilities(frozenset(changes), "exactly-once", upserts=True, keeps_values=True)

    @classmethod
    def check_requirements(cls) -> None:
        """Check that deltalake is installed: see `Plugin.check_requirements`."""
        if find_spec("deltalake") is None:
            raise MachineError("sink delta needs the package deltalake: pip install 'millrace-cdc[delta]'")

    def check(self, spark: SparkSession) -> None:
        """Check that the package is there which writes the tables; the session needs no jars."""
        self.check_requirements()

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> list[PipelineDestination]:
        """Look for the logs of tables: see `PipelineSink.destinations`."""
        self.check_requirements()
        return each_table(self._destination, tables, self.options.parallelism)

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Create and change tables, a commit each: see `PipelineSink.apply`."""
        tables = {change.table.id: change.table for change in changes}
        added = added_columns(changes)

        def prepare(table: PipelineTable) -> None:
            with blamed_on(table.id):
                self._table(table.id).fit(spark, table, added[table.id])

        each_table(prepare, tables.values(), self.options.parallelism)

    def write(self, batch: ChangeBatch) -> None:
        """Merge the last state of each key, a commit for each table: see `PipelineSink.write`."""
        # 1. The log of a table says whether it has the micro-batch, which may have failed amid its tables
        at_once = self.options.parallelism
        has_not = each_table(lambda name: self._needs(name, batch), batch.tables, at_once)
        tables = {name: table for (name, table), needs in zip(batch.tables.items(), has_not, strict=True) if needs}
        for name in batch.tables.keys() - tables.keys():
            batch.note_written(name)
        if not tables:
            return
        # 2. One job for all tables
        schemas = {name: arrow_schema(columns_of(table)) for name, table in tables.items()}
        keys = {name: key_schema(table) for name, table in tables.items()}
        chunks: dict[str, list[pa.Table]] = {name: [] for name in tables}
        encoded_chunks = map_tables(batch, RowEncoder(schemas, keys), keys, CHUNK_COLUMNS)
        for chunk in encoded_chunks.toLocalIterator(prefetchPartitions=True):
            chunks[chunk["table"]].append(read_rows_of(bytes(chunk["rows"])))
        # 3. A commit for each table, some at a time
        each_table(lambda table: self._write(batch, table, chunks[table.id]), tables.values(), at_once)

    def _needs(self, table: str, batch: ChangeBatch) -> bool:
        with blamed_on(table):
            return self._table(table).needs(batch.pipeline, batch.id)

    def _write(self, batch: ChangeBatch, table: PipelineTable, chunks: list[pa.Table]) -> None:
        truncate = table.id in batch.truncated
        if chunks or truncate:
            rows = together(chunks) if chunks else no_rows(arrow_schema(columns_of(table)))
            target = self._table(table.id)
            with blamed_on(table.id):
                sizes = target.write(table, rows, batch.pipeline, batch.id, truncate=truncate)
            self._files.look(table.id, small_files(len(sizes), sum(sizes)), target.uri)
        batch.note_written(table.id)

    def _table(self, id_: str) -> DeltaSinkTable:
        uri = "/".join([self.options.path.rstrip("/"), *table_id(id_).parts])
        return DeltaSinkTable(id_, uri, dict(self.options.storage))

    def _destination(self, table: PipelineTable) -> PipelineDestination:
        target = self._table(table.id)
        exists, problem = target.exists(), None
        try:
            target.check(table)
        except SchemaError as error:
            problem = str(error)
        return PipelineDestination(table.id, "table", target.uri, exists, problem)
