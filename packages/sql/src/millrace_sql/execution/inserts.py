"""Plan and run INSERT statements."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from millrace.api.query_lineage import QueryLineage, describe_query
from millrace.contracts import ScanContext, SinkContext, TableSink
from millrace_catalog.jvm import require_own_driver
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import TableDefinition, shown
from millrace_sql.errors import SqlError
from millrace_sql.execution.assignment import assign_columns, persisted_columns, target_columns
from millrace_sql.execution.changelog import OldRows, check_changelog, fit_changelog, old_rows_for
from millrace_sql.execution.checkpoints import QueryPlace, QueryPlaces
from millrace_sql.execution.lineage import insert_lineage
from millrace_sql.execution.queries import QueryRunner, ends_by_itself, starting
from millrace_sql.execution.tables import BoundTable, Tables
from millrace_sql.planner.model import QueryPlan
from millrace_sql.script_texts import Identifier
from millrace_sql.statements import Insert

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

logger = logging.getLogger("millrace.sql")
_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"


def _lacks_old_rows(plan: QueryPlan) -> bool:
    return "+U" in plan.changelog_mode.row_kinds and "-U" not in plan.changelog_mode.row_kinds


@dataclass(frozen=True)
class PlannedInsert:
    """An INSERT that was checked, and can run.

    Attributes:
        insert: The statement.
        table: The whole name of its table.
        bound: Its table with its connector.
        sink: The writer of its table.
        plan: Its query.
        old_rows: What becomes of the old rows of updates.
    """

    insert: Insert
    table: Identifier
    bound: BoundTable
    sink: TableSink
    plan: QueryPlan
    old_rows: OldRows

    def explain(self) -> str:
        """Return its steps as a tree, the sink first, each with its changelog mode."""
        fields = ", ".join(column.name for column in persisted_columns(self.bound.description))
        first, *rest = self.plan.explain().splitlines()
        sink = f"Sink(table=[{'.'.join(self.table.parts)}], fields=[{fields}], accepts={self.sink.changelog_mode})"
        return "\n".join([sink, f"+- {first}", *(f"   {line}" for line in rest)])


class InsertRunner:
    """Plan and run INSERT statements.

    Args:
        spark: The session.
        configuration: The settings.
        catalogs: The definitions.
        tables: Finds the tables of queries.
        queries: Plans and runs queries.
    """

    def __init__(
        self,
        spark: SparkSession,
        configuration: SessionConfiguration,
        catalogs: CatalogManager,
        tables: Tables,
        queries: QueryRunner,
    ) -> None:
        self._spark = spark
        self._configuration = configuration
        self._catalogs = catalogs
        self._tables = tables
        self._queries = queries
        self.places = QueryPlaces(spark, configuration)

    def plan(self, insert: Insert) -> PlannedInsert:
        """Check an INSERT without starting it.

        Raises:
            SqlError: A table is unknown or a view, its sink cannot take the query's changelog, or the statement is not
                for streams.
            OptionsError, PluginError: Of the connectors.
        """
        name = self._catalogs.resolve(insert.table)
        definition = self._catalogs.get(name)
        if not isinstance(definition, TableDefinition):
            raise SqlError(f"{shown(name)} is a view; INSERT needs a table", insert.table.position)
        if insert.is_overwrite and self._configuration.is_streaming:
            raise SqlError(
                "INSERT OVERWRITE is not for streams: SET 'execution.runtime-mode' = 'batch'", insert.position
            )
        bound = self._tables.bind(definition, insert.hint_options)
        sink = bound.sink
        plan = self._queries.plan(insert.query)
        self._queries.check_end(plan, insert.query)
        check_changelog(plan, sink.changelog_mode, shown(name), insert.query.position)
        if sink.needs_update_before and _lacks_old_rows(plan):
            plan = self._queries.plan(insert.query, keeps_results=True)
        old_rows = self._old_rows(insert, bound, sink, plan)
        if old_rows == "delete" and _lacks_old_rows(plan):
            # A result with a new value in the table's key does not replace the old one
            plan = self._queries.plan(insert.query, keeps_results=True)
        if old_rows == "needed" and "-U" in plan.changelog_mode.row_kinds:
            # The source need not read the old rows of which no operation asks
            plan = self._queries.plan(insert.query, sink.changelog_mode)
        return PlannedInsert(insert, name, bound, sink, plan, old_rows)

    def check(self, planned: PlannedInsert) -> None:
        """Check that an INSERT would start, without reading or writing a table.

        Raises:
            SqlError: It would not.
        """
        self._fitted(planned, self._queries.check(planned.plan, planned.insert.query))

    def run(self, planned: PlannedInsert, *, is_one_of_many: bool = False) -> tuple[StreamingQuery, QueryPlace] | None:
        """Run an INSERT: start a stream and return it with its place, or write a batch and return None.

        Args:
            planned: The INSERT.
            is_one_of_many: Whether it belongs to a statement set.
        """
        with self._shuffle_partitions(), starting(self._spark, planned.plan):
            if not self._configuration.is_streaming:
                context = ScanContext(streaming=False, needs_update_before=True, reads_once=True)
                rows = self._queries.rows(planned.plan, context)
                self._write_batch(planned, rows)
                return None
            place = self.places.of_insert(planned.insert, planned.table, is_one_of_many=is_one_of_many)
            try:
                rows = self._queries.rows(planned.plan, ScanContext(streaming=True), place)
                if rows.isStreaming:
                    return self._start(planned, rows, place), place
                # Such as VALUES, and tables that cannot be streams
                self._write_batch(planned, rows)
            except BaseException:
                place.remove()
                raise
            place.remove()
            return None

    def _write_batch(self, planned: PlannedInsert, rows: DataFrame) -> None:
        context = SinkContext(overwrite=planned.insert.is_overwrite)
        planned.sink.write(self._fitted(planned, rows), context)

    def _start(self, planned: PlannedInsert, rows: DataFrame, place: QueryPlace) -> StreamingQuery:
        if place.is_temporary:
            logger.warning(
                "the stream %s keeps no checkpoint, so that it starts from scratch when it runs again: "
                "SET 'execution.checkpointing.dir'",
                place.name,
            )
        elif ends_by_itself(planned.plan) and place.was_started(self._spark):
            logger.warning(
                "the stream %s has run before, and reads only what its tables have got since then: to read them from "
                "the start, remove its checkpoint %s, or SET 'pipeline.name' to another name",
                place.name,
                place.checkpoint,
            )
        describe_query(place.name, self._lineage(planned))
        context = SinkContext(
            query_name=place.name,
            checkpoint_location=place.checkpoint,
            trigger=self._queries.trigger(planned.plan),
            output_mode=planned.plan.output_mode,
        )
        if not planned.plan.runs_per_batch:
            return planned.sink.start(self._fitted(planned, rows), context)
        require_own_driver(self._spark, "a join with the current rows of a table")
        plan, sink = planned.plan, planned.sink

        def write(batch: DataFrame, batch_id: int) -> None:
            sink.write(self._fitted(planned, plan.apply_to_batch(batch, batch_id)), context)

        return context.configure(rows.writeStream).foreachBatch(write).start()

    @staticmethod
    def _lineage(planned: PlannedInsert) -> QueryLineage:
        insert, description = planned.insert, planned.bound.description
        statement = f"INSERT INTO {shown(planned.table)} {insert.query.text}"
        return insert_lineage(planned.bound, statement, planned.plan, target_columns(description, insert))

    def _old_rows(self, insert: Insert, bound: BoundTable, sink: TableSink, plan: QueryPlan) -> OldRows:
        if plan.changelog_mode.is_insert_only:
            return "all"
        names = self._queries.schema(insert.query).names
        sink_names = dict(zip(names, target_columns(bound.description, insert), strict=False))
        return old_rows_for(plan, sink.changelog_mode, bound.description.primary_key, sink_names, insert.query.position)

    def _fitted(self, planned: PlannedInsert, rows: DataFrame) -> DataFrame:
        """Return the rows with the table's columns, and the kinds of rows that its sink takes."""
        drops_nulls = self._configuration.options.not_null_enforcer == "drop"
        assigned = assign_columns(rows, planned.bound.description, planned.insert, drops_nulls=drops_nulls)
        return fit_changelog(assigned, planned.old_rows)

    @contextmanager
    def _shuffle_partitions(self) -> Iterator[None]:
        """Set the tasks of shuffles for the queries that start within; a stream keeps the number from then on."""
        parallelism = self._configuration.options.parallelism
        if parallelism is None:
            yield
            return
        before = self._spark.conf.get(_SHUFFLE_PARTITIONS)
        self._spark.conf.set(_SHUFFLE_PARTITIONS, str(parallelism))
        try:
            yield
        finally:
            self._spark.conf.set(_SHUFFLE_PARTITIONS, before)
