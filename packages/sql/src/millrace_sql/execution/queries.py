"""Plan queries, and read their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode, ScanContext
from millrace.contracts.table_factory import PlannedTableRead
from millrace_catalog.jvm import optimize
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.errors import SqlError
from millrace_sql.execution.checkpoints import QueryPlace
from millrace_sql.execution.stand_ins import columns_of, stand_in
from millrace_sql.execution.tables import BoundDataFrame, BoundTable, Tables
from millrace_sql.planner import plan_query
from millrace_sql.planner.model import QueryPlan, Scan, TableLookup
from millrace_sql.planner.repeated_scans import reads_scans_once
from millrace_sql.planner.user_functions import FunctionLookup, no_functions
from millrace_sql.script_texts import SqlText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


FILTER_PUSHDOWN = "scan.filter-pushdown"
_STREAM_CHECK = "spark.sql.streaming.unsupportedOperationCheck"


def ends_by_itself(plan: QueryPlan) -> bool:
    """Return whether all streams of a query are bounded."""
    streams = [scan.table for scan in plan.scans if not (scan.is_lookup or scan.table.is_static)]
    return bool(streams) and all(table.is_bounded for table in streams)


def _planned_read(scan: Scan, context: ScanContext) -> PlannedTableRead | None:
    origin = scan.table.origin
    return origin.source.planned_read(context) if isinstance(origin, BoundTable) else None


@contextmanager
def starting(spark: SparkSession, plan: QueryPlan) -> Iterator[None]:
    """Let a stream start within that Spark runs, but refuses by its check of streams.

    Spark allows one Python function with state in a stream, since late rows could be lost between two of them. Those of
    a plan know no watermark.

    Args:
        spark: The session.
        plan: The stream.
    """
    if not plan.chains_states:
        yield
        return
    before = spark.conf.get(_STREAM_CHECK)
    spark.conf.set(_STREAM_CHECK, "false")
    try:
        yield
    finally:
        spark.conf.set(_STREAM_CHECK, str(before))


class QueryRunner:
    """Plan queries, and read their tables.

    Args:
        spark: The session.
        configuration: The settings.
        tables: Finds the tables of queries.
        functions: Finds the user-defined functions of queries.
    """

    def __init__(
        self,
        spark: SparkSession,
        configuration: SessionConfiguration,
        tables: Tables,
        functions: FunctionLookup = no_functions,
    ) -> None:
        self._spark = spark
        self._functions = functions
        self._configuration = configuration
        self._tables = tables

    def plan(
        self, query: SqlText, sink_mode: ChangelogMode = ChangelogMode.ALL, *, keeps_results: bool = False
    ) -> QueryPlan:
        """Analyse a query, for the current runtime mode.

        Args:
            query: The query.
            sink_mode: The kinds of rows that its result may have.
            keeps_results: Whether aggregations return old results too.

        Raises:
            SqlError: A name in it is unknown, or it cannot run in this mode.
        """
        return plan_query(
            query,
            self._tables.lookup(),
            streaming=self._configuration.is_streaming,
            sink_mode=sink_mode,
            time_zone=self._configuration.time_zone,
            keeps_results=keeps_results,
            is_spark=self._configuration.is_spark,
            functions=self._functions,
        )

    def rows(self, plan: QueryPlan, context: ScanContext, place: QueryPlace | None = None) -> DataFrame:
        """Return the rows of a query, lazily.

        Args:
            plan: The query.
            context: How it reads its tables.
            place: Its checkpoint, in which the state of its sources is kept; None where it has none of its own.
        """
        numbers = {scan.view_name: number for number, scan in enumerate(plan.scans)}
        reads_once = context.reads_once and reads_scans_once(plan.sql)

        def read(scan: Scan) -> DataFrame:
            origin = scan.table.origin
            if not isinstance(origin, BoundTable | BoundDataFrame):
                raise TypeError(f"scan of {scan.table.identifier} lacks what the environment gave it")
            streaming = context.streaming and not scan.is_lookup
            number = numbers[scan.view_name]
            state = place.state_location(number, scan.table.identifier) if place and streaming else None
            wanted = replace(
                context,
                streaming=streaming,
                needs_update_before=scan.needs_update_before,
                state_location=state,
                source_name=f"{number}_{scan.table.identifier.parts[-1]}",
                reads_once=reads_once,
                filter_report=context.filter_report and f"{context.filter_report}{number}",
            )
            return origin.read(self._spark, wanted)

        return plan.execute(self._spark, read, place.plan_state_location if place and context.streaming else None)

    def schema(self, query: SqlText, tables: TableLookup | None = None) -> StructType:
        """Return the columns of a query's result, without row kinds; nothing is read for it.

        Args:
            query: The query.
            tables: Finds what it names; by default from the current catalog and database.

        Raises:
            SqlError: The query is wrong.
        """
        from pyspark.sql.types import StructType

        plan = plan_query(
            query,
            tables or self._tables.lookup(),
            streaming=False,
            time_zone=self._configuration.time_zone,
            is_spark=self._configuration.is_spark,
            functions=self._functions,
        )

        # Without rows, but with the nullability of the columns
        schema = plan.execute(self._spark, lambda scan: self._spark.createDataFrame([], columns_of(scan))).schema
        return StructType([field for field in schema if field.name != ROW_KIND_COLUMN])

    def check(self, plan: QueryPlan, query: SqlText) -> DataFrame:
        """Check that a query would start, and return its result over rows that stand for those of its tables.

        Args:
            plan: The query.
            query: Its text.

        Raises:
            SqlError: It would not start.
        """
        self.check_end(plan, query)
        streaming = self._configuration.is_streaming and not plan.runs_per_batch
        return plan.check(self._spark, lambda scan: stand_in(self._spark, scan, streaming=streaming))

    def pushed_filters(self, plan: QueryPlan) -> list[str]:
        """Return for each table of a batch the filters by which fewer offsets are read, as Spark pushes them.

        Tables of other connectors are not asked, since that may connect to them; a query with one has no filters here,
        nor has one in a session of Spark Connect.

        Args:
            plan: The query, which was checked.
        """
        context = ScanContext(streaming=False, reads_once=True)
        if self._configuration.is_streaming:
            return []
        reads = [_planned_read(scan, context) for scan in plan.scans]
        if None in reads or not any(read and read.options.get(FILTER_PUSHDOWN) == "true" for read in reads):
            return []
        with TemporaryDirectory(prefix="millrace-explain-") as folder:
            optimize(self.rows(plan, replace(context, filter_report=f"{folder}/")))
            reports = {int(path.name): path.read_text() for path in Path(folder).iterdir()}
        return [f"{plan.scans[number].table.identifier.parts[-1]}: {reports[number]}" for number in sorted(reports)]

    def check_end(self, plan: QueryPlan, query: SqlText) -> None:
        """Check that a stream that ends by itself returns all that it should.

        Args:
            plan: The stream.
            query: Its query.

        Raises:
            SqlError: Its last windows would never come.
        """
        if self._configuration.is_streaming and plan.has_windows and ends_by_itself(plan):
            message = (
                "the tables of the query are bounded, and the last windows of a stream that ends would never come, "
                "since no later row moves the watermark past them: SET 'execution.runtime-mode' = 'batch', or read "
                "tables without an end"
            )
            raise SqlError(message, query.position)

    def trigger(self, plan: QueryPlan) -> Mapping[str, Any] | None:
        """Return the arguments of Spark's ``trigger`` for a stream: one over bounded tables only ends by itself."""
        if ends_by_itself(plan):
            return {"availableNow": True}
        interval = self._configuration.options.checkpoint_interval_ms
        return None if interval is None else {"processingTime": f"{interval} milliseconds"}
