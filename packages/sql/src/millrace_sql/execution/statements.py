"""Run parsed statements, one at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from millrace.contracts import ScanContext
from millrace.contracts.jobs import JOBS
from millrace.options.secrets import masked_value
from millrace.plans.model import JobPlan
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.definitions.functions import FunctionDefinitions
from millrace_sql.definitions.kept import KeptDefinitions
from millrace_sql.definitions.manager import CatalogManager
from millrace_sql.definitions.model import CONNECTOR, shown
from millrace_sql.definitions.secrets import References
from millrace_sql.definitions.store import DefinitionStore
from millrace_sql.errors import SqlError
from millrace_sql.execution.copies import CopyRunner
from millrace_sql.execution.definitions import DefinitionRunner
from millrace_sql.execution.inserts import InsertRunner, PlannedInsert
from millrace_sql.execution.job_descriptions import CopiedTable, InsertJob
from millrace_sql.execution.jobs import Job
from millrace_sql.execution.listings import ListingRunner
from millrace_sql.execution.plans import JobPlanner
from millrace_sql.execution.queries import QueryRunner
from millrace_sql.execution.results import TableResult, table_of, text_result
from millrace_sql.execution.selects import SelectRunner
from millrace_sql.execution.tables import Tables
from millrace_sql.planner.model import QueryPlan
from millrace_sql.planner.user_functions import PREFIX
from millrace_sql.script_texts import SqlText
from millrace_sql.statements import (
    AlterTable,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    Describe,
    Drop,
    ExecuteStatementSet,
    Explain,
    Insert,
    Query,
    ResetOption,
    SetOption,
    Show,
    Statement,
    Use,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace_sql.execution.checkpoints import QueryPlace

logger = logging.getLogger("millrace.sql")


class StatementRunner:
    """Run statements against the definitions and settings of one table environment.

    Args:
        spark: The session.
        config: Settings at the start, by key.
        references: Values of references in options.
        dry_run: Whether queries are planned and not run, and kept definitions are only read.
    """

    def __init__(
        self, spark: SparkSession, config: Mapping[str, str], references: References, *, dry_run: bool = False
    ) -> None:
        self._dry_run = dry_run
        self._jobs: list[Job] = []
        self.configuration = SessionConfiguration(spark, config)
        start = self.configuration.start
        store = None if start.store_path is None else DefinitionStore(start.store_path, is_read_only=dry_run)
        kept_definitions = None if store is None else KeptDefinitions(store)
        self.catalogs = CatalogManager(start.catalog, start.database, references, kept_definitions)
        self.functions = FunctionDefinitions(self.catalogs, kept_definitions)
        for function in self.functions.functions():
            function.register(spark)
        self.tables = Tables(spark, self.catalogs, references, self.configuration, self.functions.find)
        self.queries = QueryRunner(spark, self.configuration, self.tables, self.functions.find)
        self.inserts = InsertRunner(spark, self.configuration, self.catalogs, self.tables, self.queries)
        self.listings = ListingRunner(self.catalogs, self.tables, self.queries.schema)
        self._spark = spark
        self._selects = SelectRunner(spark, self.configuration, self.queries, self.inserts.places)
        self._definitions = DefinitionRunner(self.catalogs, self.queries.schema, self.tables.check)
        self._planner = JobPlanner(self.configuration, self.queries, self.inserts)
        self._copies = CopyRunner(
            spark,
            self.configuration,
            self.catalogs,
            self.tables,
            self.inserts.places,
            self._definitions.create_table,
        )

    @singledispatchmethod
    def run(self, statement: Statement) -> TableResult:
        """Run a statement.

        Raises:
            SqlError: It cannot run.
            MillraceError: A connector, a catalog or an option refuses.
        """
        raise TypeError(f"no statement: {statement!r}")

    def rows(self, query: SqlText) -> DataFrame:
        """Return the rows of a query as a DataFrame: a stream in streaming mode.

        Raises:
            SqlError: It needs steps in each micro-batch, which a DataFrame cannot have.
        """
        plan = self.queries.plan(query)
        if plan.runs_per_batch or plan.chains_states:
            reason = (
                "joins or aggregates within each micro-batch"
                if plan.runs_per_batch
                else "groups or numbers the results of other groups"
            )
            raise SqlError(
                f"this query {reason}, which a DataFrame cannot: INSERT its rows into a table, or SET "
                "'execution.runtime-mode' = 'batch'",
                query.position,
            )
        return self.queries.rows(plan, ScanContext(streaming=self.configuration.is_streaming))

    def run_inserts(self, inserts: Sequence[Insert]) -> TableResult:
        """Run INSERT statements together: all are checked before the first one starts."""
        planned = [self.inserts.plan(insert) for insert in inserts]
        if self._dry_run or len(planned) > 1:
            self._check(planned)
        if self._dry_run:
            return text_result("\n\n".join(insert.explain() for insert in planned))
        started = self._start(planned)
        if not started:
            return TableResult()

        def remove() -> None:
            for _, place in started:
                place.remove()

        job = Job([query for query, _ in started], remove)
        self._jobs.append(job)
        JOBS.add(InsertJob(planned, job))
        result = TableResult(job=job)
        if self.configuration.options.dml_sync:
            result.wait()
        return result

    def _start(self, planned: Sequence[PlannedInsert]) -> list[tuple[StreamingQuery, QueryPlace]]:
        started: list[tuple[StreamingQuery, QueryPlace]] = []
        try:
            for insert in planned:
                running = self.inserts.run(insert, is_one_of_many=len(planned) > 1)
                if running is not None:
                    started.append(running)
        except BaseException:
            for query, place in started:
                query.stop()
                place.remove()
            raise
        return started

    def explain(self, statement: Query | Insert | ExecuteStatementSet) -> str:
        """Return the plan of a query, an INSERT or a statement set, with the changelog mode of each step."""
        if isinstance(statement, Query):
            plan = self._checked_plan(statement.query)
            return _explained([plan.explain()], [plan.sql], self.queries.pushed_filters(plan))
        inserts = statement.inserts if isinstance(statement, ExecuteStatementSet) else (statement,)
        planned: list[PlannedInsert] = [self.inserts.plan(insert) for insert in inserts]
        self._check(planned)
        filters = [line for insert in planned for line in self.queries.pushed_filters(insert.plan)]
        return _explained([insert.explain() for insert in planned], [insert.plan.sql for insert in planned], filters)

    def _checked_plan(self, query: SqlText) -> QueryPlan:
        plan = self.queries.plan(query)
        self.queries.check(plan, query)
        return plan

    def _warn_of_view(self, statement: CreateView) -> None:
        """Warn of a view that is no stream by itself; a query around it may be one, such as by the number of a row."""
        try:
            self._checked_plan(statement.query)
        except SqlError as error:
            logger.warning("view %s: a stream cannot read it as it stands: %s", shown(statement.view), error.message)

    def _check(self, planned: Sequence[PlannedInsert]) -> None:
        for insert in planned:
            self.inserts.check(insert)

    def plan(self, statement: Statement) -> JobPlan:
        """Plan what a statement would read and write; definitions, settings and the like run, in a dry run alone.

        Raises:
            SqlError: It is wrong, or it changes definitions and this is no dry run.
        """
        if isinstance(statement, Query):
            return self._planner.of_query(statement.query)
        if isinstance(statement, Insert):
            return self._planner.of_insert(statement)
        if isinstance(statement, ExecuteStatementSet):
            plan = JobPlan()
            for insert in statement.inserts:
                plan += self._planner.of_insert(insert, is_one_of_many=len(statement.inserts) > 1)
            return plan
        if not self._dry_run:
            raise SqlError("expected a query, an INSERT or a statement set to plan; dry_run=True allows definitions")
        if isinstance(statement, CreateTable):
            return self._plan_table(statement)
        self.run(statement)
        return JobPlan()

    def _plan_table(self, statement: CreateTable) -> JobPlan:
        if statement.as_table is not None:
            raise SqlError("CREATE TABLE ... AS TABLE cannot be planned yet: plan AS SELECT", statement.position)
        table = self._definitions.create_table(statement)
        if table is None:
            return JobPlan()
        plan = self._planner.of_table(table.identifier, table.options[CONNECTOR])
        if statement.query is None:
            return plan
        return plan + self._planner.of_insert(Insert(table.identifier, statement.query, position=statement.position))

    @run.register
    def _(self, statement: CreateTable) -> TableResult:
        if statement.as_table is not None:
            copy = self._copies.run(statement, statement.as_table)
            JOBS.add(CopiedTable(copy))
            result = TableResult(job=copy)
            if self.configuration.options.dml_sync or not self.configuration.is_streaming:
                result.wait()
            return result
        before = self.catalogs.find(self.catalogs.resolve(statement.table))
        table = self._definitions.create_table(statement)
        if table is None or statement.query is None:
            return TableResult()
        insert = Insert(table.identifier, statement.query, position=statement.position)
        try:
            self._check([self.inserts.plan(insert)])
        except BaseException:
            # The definition is kept, and its query could never fill it
            self.catalogs.drop(table)
            if before is not None:
                self.catalogs.create(before, or_replace=True)
            raise
        return self.run_inserts([insert])

    @run.register
    def _(self, statement: CreateView) -> TableResult:
        self._definitions.create_view(statement)
        if self.configuration.is_streaming:
            self._warn_of_view(statement)
        return TableResult()

    @run.register
    def _(self, statement: CreateCatalog) -> TableResult:
        self.catalogs.create_catalog(statement)
        return TableResult()

    @run.register
    def _(self, statement: CreateDatabase) -> TableResult:
        self.catalogs.create_database(statement.database, statement.comment, if_not_exists=statement.if_not_exists)
        return TableResult()

    @run.register
    def _(self, statement: CreateFunction) -> TableResult:
        function = self.functions.create(statement)
        if function is not None:
            function.register(self._spark)
        return TableResult()

    @run.register
    def _(self, statement: Use) -> TableResult:
        parts = statement.name.parts
        if statement.kind == "CATALOG":
            self.catalogs.use(parts[-1], None, statement.name.position)
        else:
            catalog, database = (self.catalogs.current_catalog, *parts)[-2:]
            self.catalogs.use(catalog, database, statement.name.position)
        return TableResult()

    @run.register
    def _(self, statement: Show) -> TableResult:
        if statement.kind == "JOBS":
            return table_of(("job id", "job name", "status"), [_described_job(job) for job in self._jobs])
        if statement.kind in ("FUNCTIONS", "USER FUNCTIONS"):
            return self.listings.show_functions(statement, self._function_names(statement))
        return self.listings.show(statement)

    @run.register
    def _(self, statement: Describe) -> TableResult:
        return self.listings.describe(statement)

    def _function_names(self, statement: Show) -> list[str]:
        """Return the names of the functions of this environment and of Spark's session."""
        scope = "USER" if statement.kind == "USER FUNCTIONS" else "ALL"
        names = (str(row[0]) for row in self._spark.sql(f"SHOW {scope} FUNCTIONS").collect())
        return [*self.functions.names(), *(name for name in names if PREFIX not in name)]

    @run.register
    def _(self, statement: Drop) -> TableResult:
        if statement.kind == "FUNCTION":
            self.functions.drop(statement)
            return TableResult()
        self._definitions.drop(statement)
        return TableResult()

    @run.register
    def _(self, statement: AlterTable) -> TableResult:
        self._definitions.alter_table(statement)
        return TableResult()

    @run.register
    def _(self, statement: Query) -> TableResult:
        if self._dry_run:
            return text_result(self._checked_plan(statement.query).explain())
        return self._selects.run(statement.query)

    @run.register
    def _(self, statement: Insert) -> TableResult:
        return self.run_inserts([statement])

    @run.register
    def _(self, statement: ExecuteStatementSet) -> TableResult:
        return self.run_inserts(statement.inserts)

    @run.register
    def _(self, statement: Explain) -> TableResult:
        return text_result(self.explain(statement.statement))

    @run.register
    def _(self, statement: SetOption) -> TableResult:
        if statement.key is None or statement.value is None:
            settings = ((key, masked_value(key, value)) for key, value in self.configuration.items())
            return table_of(("key", "value"), list(settings))
        self._located(statement, lambda: self.configuration.set(str(statement.key), str(statement.value)))
        return TableResult()

    @run.register
    def _(self, statement: ResetOption) -> TableResult:
        self._located(statement, lambda: self.configuration.reset(statement.key))
        return TableResult()

    def _located(self, statement: SetOption | ResetOption, change: Callable[[], None]) -> None:
        try:
            change()
        except SqlError as error:
            raise SqlError(error.message, statement.position) from error


def _described_job(job: Job) -> tuple[str, str, str]:
    names = ", ".join(str(query.name) for query in job.queries)
    return str(job.queries[0].id), names, job.status().value


def _explained(trees: Sequence[str], queries: Sequence[str], filters: Sequence[str]) -> str:
    pushed = ["", "== Filters By Which Fewer Offsets Are Read ==", *dict.fromkeys(filters)] if filters else []
    plans = ["== Changelog Plan ==", "\n\n".join(trees), "", "== Spark SQL ==", "\n\n".join(queries)]
    return "\n".join([*plans, *pushed])
