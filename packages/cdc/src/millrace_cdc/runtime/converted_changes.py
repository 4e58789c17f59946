"""The changes of a micro-batch as a sink gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace.contracts import CHANGE_BATCH_COLUMNS, ChangeBatch, PipelineTable
from millrace_cdc.rows.change_records import PLACE
from millrace_cdc.rows.spark_rows import row_struct
from millrace_cdc.runtime.conversion import ChangeConverter

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from millrace_cdc.runtime.table_schema import SourceTableSchema


class ConvertedChanges(ChangeBatch):
    """The changes of a micro-batch, converted to the columns of the sink's tables in the same pass that maps them.

    Args:
        pipeline: The id of the pipeline.
        batch: The number of the micro-batch.
        changes: Changes as the parser yields them.
        routes: By id of a source's table, those of the sink's tables that its rows go to.
        columns: The sink's tables for executors.
        tables: The sink's tables.
        rows: By id of a source's table, the number of its changes.
        fitting: See `ChangeConverter`.
        truncated: The ids of those that are emptied first.
        partial: The ids of those of the source's tables with updates that keep values.
        finish: Makes changes of what the columns of ``changes`` have; for tasks.
        on_written: Is told the id of each table that the sink has written.
    """

    def __init__(
        self,
        pipeline: str,
        batch: int,
        changes: DataFrame,
        routes: Mapping[str, tuple[str, ...]],
        columns: Mapping[str, SourceTableSchema],
        tables: Mapping[str, PipelineTable],
        rows: Mapping[str, int],
        fitting: frozenset[str] = frozenset(),
        truncated: frozenset[str] = frozenset(),
        partial: frozenset[str] = frozenset(),
        finish: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] = iter,
        on_written: Callable[[str], None] | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.id = batch
        self.tables = tables
        self.row_counts = {
            name: sum(rows[source] for source, targets in routes.items() if name in targets) for name in tables
        }
        self.truncated = truncated
        self.partial = frozenset(target for source in partial for target in routes.get(source, ()))
        self._changes = changes
        self._routes = routes
        self._columns = columns
        self._fitting = fitting
        self._finish = finish
        self._on_written = on_written

    @property
    def spark(self) -> SparkSession:
        """The session of the micro-batch."""
        return self._changes.sparkSession

    def note_written(self, table: str) -> None:
        """Note that a table is written: see `ChangeBatch.note_written`."""
        if self._on_written is not None:
            self._on_written(table)

    def map(self, function: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]], columns: str) -> DataFrame:
        """Map the changes of all tables: see `ChangeBatch.map`."""
        return self._map(function, columns, self._routes)

    def rows(self, table: str) -> DataFrame:
        """Return the changes of one table: see `ChangeBatch.rows`."""
        routes = {source: (table,) for source, targets in self._routes.items() if table in targets}
        changes = self._map(lambda batches: batches, CHANGE_BATCH_COLUMNS, routes)
        schema = self.tables[table].schema
        images = (row_struct(fn.col(name), schema).alias(name) for name in ("before", "after"))
        return changes.select("operation", *images, *PLACE, "kept")

    def _map(
        self,
        function: Callable[[Iterator[pa.RecordBatch]], Iterable[pa.RecordBatch]],
        columns: str,
        routes: Mapping[str, tuple[str, ...]],
    ) -> DataFrame:
        columns_by_table, fitting, finish = self._columns, self._fitting, self._finish
        rows = self._changes.where(fn.col("table").isin(list(routes))) if len(routes) == 1 else self._changes
        return rows.mapInArrow(
            lambda batches: function(ChangeConverter(routes, columns_by_table, fitting).convert(finish(batches))),
            columns,
        )
