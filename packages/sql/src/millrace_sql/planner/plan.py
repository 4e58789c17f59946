"""Plan queries, and run their plans in Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_catalog.jvm import check_stream
from millrace_sql.errors import SqlError, SqlSyntaxError
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.folding import fold
from millrace_sql.planner.join_stage import JoinStage
from millrace_sql.planner.lookups import CurrentRows
from millrace_sql.planner.model import InputTable, QueryPlan, Scan, TableLookup
from millrace_sql.planner.query_text import TOO_DEEP, QueryText, parse_query, place_of_name
from millrace_sql.planner.rank_stages import RankStage
from millrace_sql.planner.reference_query import ReferenceColumns
from millrace_sql.planner.relations import Relation, spark_sql
from millrace_sql.planner.state import StateStage
from millrace_sql.planner.steps import steps_of, tree_of
from millrace_sql.planner.stream_union import distinct_unions
from millrace_sql.planner.user_functions import FunctionLookup, no_functions
from millrace_sql.planner.walk import QueryWalk
from millrace_sql.script_texts import Identifier, ScriptPosition, SqlText

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession

_WITH_STATE = ("Aggregate", "Deduplicate", "Rank")
_OF_WINDOWS = {"WindowAggregate", "WindowRank"}


def plan_query(
    query: SqlText,
    tables: TableLookup,
    *,
    streaming: bool,
    sink_mode: ChangelogMode = ChangelogMode.ALL,
    time_zone: str = "UTC",
    keeps_results: bool = False,
    is_spark: bool = False,
    functions: FunctionLookup = no_functions,
) -> SparkPlan:
    """Plan a query.

    Args:
        query: The query, in Spark SQL and what of Flink's dialect can be rewritten.
        tables: Resolves the names of tables.
        streaming: Whether the query is a stream.
        sink_mode: The kinds of rows that its result may have. Old rows of updates (``-U``) are read only where an
            operation of the query needs them, or where these kinds hold them.
        time_zone: The session's time zone, in which windows begin.
        keeps_results: Whether aggregations of a stream return the old results of groups too (``-U``).
        is_spark: Whether what Spark knows means what it means to Spark.
        functions: Finds user-defined functions.

    Raises:
        SqlError: The query is wrong, or its result would not be exact.
    """
    tables = _remembered(tables)
    update_before, kept_states = frozenset[int](), frozenset[int]()
    try:
        while True:
            analysis = QueryWalk(streaming, update_before, time_zone, kept_states, functions)
            asked = sink_mode.row_kinds, keeps_results
            text, relation = _walk(query, tables, analysis, *asked, is_spark=is_spark)
            if analysis.is_complete:
                return SparkPlan(text, analysis, relation)
            # An operation needs old rows that are not read or kept yet, and what comes of them: walk again
            update_before |= analysis.asked
            kept_states |= analysis.asked_states
    except RecursionError:
        raise SqlSyntaxError(TOO_DEEP, query.position) from None


def _walk(
    query: SqlText,
    tables: TableLookup,
    analysis: QueryWalk,
    row_kinds: frozenset[str],
    keeps_results: bool,
    *,
    is_spark: bool,
) -> tuple[QueryText, Relation]:
    """Analyse a query once, and return it with the relation of its result."""
    text = parse_query(query, tables, time_zone=analysis.time_zone, is_spark=is_spark, functions=analysis.functions)
    if analysis.streaming:
        text = replace(text, tree=distinct_unions(text.tree))
    relation = analysis.query(text, text.tree, tables, {})
    analysis.check_rankings()
    if relation.is_changelog and "-U" in row_kinds:
        analysis.asked |= relation.scans
    if relation.is_changelog and keeps_results:
        analysis.asked_states |= relation.states
    if analysis.is_complete:
        analysis.name_queries()
        analysis.check_hints(text)
        _check_lookups(text, analysis, relation)
    return text, relation


def _remembered(tables: TableLookup) -> TableLookup:
    """Return a lookup that resolves each name once, since a query is walked several times."""
    known: dict[tuple[Identifier, tuple[tuple[str, str], ...]], InputTable] = {}

    def lookup(name: Identifier, hints: Mapping[str, str]) -> InputTable:
        key = (name, tuple(sorted(hints.items())))
        if key not in known:
            known[key] = tables(name, hints)
        return known[key]

    return lookup


def _check_lookups(text: QueryText, analysis: Analysis, relation: Relation) -> None:
    lookups = [scan for scan in analysis.scans if scan.is_lookup and not scan.table.is_static]
    if not lookups:
        return
    streams = [scan for scan in analysis.scans if not scan.is_lookup and not scan.table.is_static]
    name = lookups[0].table.identifier.parts[-1]
    if len(streams) != 1:
        message = f"a query that looks up {name!r} reads one stream, not {len(streams)}: write one INSERT for each"
        raise text.error(message)
    aggregates = [step for step in steps_of(relation.step) if step.name.endswith(_WITH_STATE)]
    if aggregates:
        message = (
            f"{aggregates[0].operation} of rows that are joined with the current ones of {name!r} would count within "
            "each micro-batch: write the joined rows to a table of their own, and aggregate that"
        )
        raise text.error(message)


class SparkPlan(QueryPlan):
    """A query that was analysed, for Spark.

    Args:
        text: The query, its tree rewritten.
        analysis: What its analysis found.
        relation: Its result.
    """

    def __init__(self, text: QueryText, analysis: Analysis, relation: Relation) -> None:
        self.scans = tuple(analysis.scans)
        self._reference = analysis.text_of(text)
        self._is_rewritten = analysis.is_rewritten
        self.sql = spark_sql(text.tree) if analysis.is_rewritten else self._reference
        self.changelog_mode = relation.mode
        self.changelog_origin = relation.origin
        self.output_mode = "update" if analysis.output_mode == "update" else "append"
        self.upsert_key = relation.key
        self.lost_key = relation.lost_key
        self.has_one_row = relation.has_one_row
        self._streaming = analysis.streaming
        self._stages = tuple(analysis.stages)
        self._step = relation.step
        self._source = text.source
        self.has_windows = any(step.name in _OF_WINDOWS for step in steps_of(relation.step))
        self.chains_states = sum(isinstance(stage, StateStage | RankStage | JoinStage) for stage in analysis.stages) > 1
        self._lookups: list[tuple[Scan, CurrentRows]] = []
        self._read: Callable[[Scan], DataFrame] | None = None

    def explain(self) -> str:
        """Return its steps as a tree, the result first, each with its changelog mode."""
        return tree_of(self._step)

    @property
    def runs_per_batch(self) -> bool:
        """True when stages of a stream must run within each micro-batch, on `apply_to_batch`."""
        return any(scan.is_lookup and not scan.table.is_static for scan in self.scans)

    def execute(
        self, spark: SparkSession, read: Callable[[Scan], DataFrame], state_location: str | None = None
    ) -> DataFrame:
        """Return the result, lazily: a stream when the scans are streams; see `QueryPlan.execute`."""
        if self.runs_per_batch:
            return self._stream_of_lookups(spark, read, state_location)
        return self._result(spark, lambda number: self._once(spark, number, read, state_location))

    def check(self, spark: SparkSession, stand_in: Callable[[Scan], DataFrame]) -> DataFrame:
        """Check what `execute` would check, and return the result over other rows; see `QueryPlan.check`."""
        return self._result(spark, lambda number: stand_in(self.scans[number]))

    def _result(self, spark: SparkSession, rows_of: Callable[[int], DataFrame]) -> DataFrame:
        """Return the result over the rows of the scans, by their numbers."""
        reference = None
        if self._is_rewritten:
            reference = self._analysed(lambda: ReferenceColumns.of(spark, self.scans, self._reference))
        for number, scan in enumerate(self.scans):
            self._register(scan, rows_of(number))
        for stage in self._stages:
            self._analysed(partial(stage.create_view, spark))
        rows: DataFrame = self._analysed(lambda: spark.sql(self.sql))
        # Spark's check is off where functions with state follow one another
        if rows.isStreaming and not self.chains_states:
            self._analysed(lambda: check_stream(rows, self.output_mode))
        return rows if reference is None else reference.typed(rows)

    def _once(
        self, spark: SparkSession, number: int, read: Callable[[Scan], DataFrame], state_location: str | None
    ) -> DataFrame:
        """Return the rows of a scan; of a table that changes are joined with, the rows as of the first start.

        A change must find the row that the change before it has found.
        """
        scan = self.scans[number]
        has_changes = any(not (other.table.is_static or _is_insert_only(other)) for other in self.scans)
        if not (self._streaming and scan.table.is_static and has_changes):
            return read(scan)
        if state_location is None:
            message = (
                f"a join of changes with {scan.table.identifier.parts[-1]!r} needs a checkpoint folder, where the rows "
                "of that table are kept: INSERT the result into a table"
            )
            raise SqlError(message, self._source.position)
        return CurrentRows(scan, state_location, number).first(spark, partial(read, scan))

    def _register(self, scan: Scan, rows: DataFrame) -> None:
        if not self._streaming:
            rows = fold(rows, scan)
        elif not scan.needs_update_before and ROW_KIND_COLUMN in rows.columns:
            rows = rows.where(f"{ROW_KIND_COLUMN} <> '-U'")
        rows.createOrReplaceTempView(scan.view_name)

    def _stream_of_lookups(
        self, spark: SparkSession, read: Callable[[Scan], DataFrame], state_location: str | None
    ) -> DataFrame:
        """Return the stream of a query whose other tables are looked up; the query itself runs in each micro-batch."""
        if state_location is None:
            raise SqlError(
                "a join with a table's current rows needs a checkpoint folder, where they are kept",
                self._source.position,
            )
        self._analysed(lambda: ReferenceColumns.of(spark, self.scans, self._reference))
        self._read, self._lookups = read, []
        stream: DataFrame | None = None
        for number, scan in enumerate(self.scans):
            if scan.table.is_static:
                self._register(scan, read(scan))
            elif scan.is_lookup:
                self._lookups.append((scan, CurrentRows(scan, state_location, number)))
            else:
                stream = read(scan)
        assert stream is not None  # noqa: S101 - the plan has one
        return stream

    def apply_to_batch(self, rows: DataFrame, batch_id: int) -> DataFrame:
        """Return the result's rows for one micro-batch of what `execute` returned; see `QueryPlan.apply_to_batch`."""
        if self._read is None:
            return rows
        session = rows.sparkSession
        stream = next(scan for scan in self.scans if not scan.is_lookup and not scan.table.is_static)
        rows.createOrReplaceTempView(stream.view_name)
        for scan, current in self._lookups:
            current.view(session, partial(self._read, scan), batch_id)
        for stage in self._stages:
            stage.create_view(session)
        return session.sql(self.sql)

    def _analysed(self, analyse: Callable[[], Any]) -> Any:
        """Return what Spark makes of the query, its errors in one sentence."""
        from pyspark.errors import AnalysisException

        try:
            return analyse()
        except AnalysisException as error:
            message = _first_sentence(str(error))
            for scan in self.scans:
                message = message.replace(scan.view_name, scan.table.identifier.parts[-1])
            raise SqlError(f"Spark cannot analyse the query: {message}", self._place_of(error)) from None

    def _place_of(self, error: PySparkException) -> ScriptPosition:
        """Return the place of the name that Spark does not know; that of the query for other errors."""
        parameters = error.getMessageParameters() or {}
        name = parameters.get("objectName") or parameters.get("routineName")
        return place_of_name(self._source, name) if name else self._source.position


def _is_insert_only(scan: Scan) -> bool:
    return scan.is_lookup or scan.table.changelog_mode.is_insert_only


def _first_sentence(message: str) -> str:
    """Return Spark's message without the plan that follows it."""
    text = message.split(";\n")[0].split("\n== ")[0].split("\n'")[0]
    text = " ".join(text.split())
    return text.split(" SQLSTATE:")[0].split("; line ")[0]
