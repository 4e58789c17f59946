"""The table environment: SQL statements on a Spark session, as PyFlink users know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from millrace.plans.model import JobPlan
from millrace_catalog.types.identifiers import backquote
from millrace_sql.configuration.session import TableConfig
from millrace_sql.definitions.model import DataFrameView
from millrace_sql.definitions.secrets import References
from millrace_sql.errors import SqlError
from millrace_sql.execution.query_checks import check_queries
from millrace_sql.execution.results import TableResult
from millrace_sql.execution.statements import StatementRunner
from millrace_sql.parser import parse
from millrace_sql.script_texts import Identifier, SqlText
from millrace_sql.statement_set import StatementSet
from millrace_sql.statements import Describe, Explain, Insert, Query, Statement
from millrace_sql.statements import ExecuteStatementSet as StatementSetStatement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class TableEnvironment:
    """Run the reference's SQL on a Spark session.

        env = TableEnvironment(spark)
        env.execute_sql("CREATE TABLE orders (...) WITH ('connector' = 'kafka', ...)")
        env.execute_sql("INSERT INTO large_orders SELECT * FROM orders WHERE amount > 100").wait()

    Queries run as streams until ``SET 'execution.runtime-mode' = 'batch'``.

    Args:
        spark: The session.
        catalog_store: A folder, as a path or URI, that keeps tables, views, databases and catalogs for later sessions;
            by default they last as long as the environment.
        config: Settings at the start, by the keys of SET.
        secret_values: Values of ``${secret_values.name}`` in the options of tables, by name.
        variables: Values of ``${name}`` in the options of tables, by name.
        dry_run: Whether statements are parsed, resolved and planned only: a query's result is its plan, nothing is
            written or started, and kept definitions are only read.

    Raises:
        OptionsError: A setting is wrong or unknown.
        SqlError: The kept definitions cannot be read.
    """

    def __init__(
        self,
        spark: SparkSession,
        *,
        catalog_store: str | None = None,
        config: Mapping[str, str] | None = None,
        secret_values: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> None:
        settings = dict(config or {})
        if catalog_store is not None:
            settings |= {"table.catalog-store.kind": "file", "table.catalog-store.file.path": catalog_store}
        self._runner = StatementRunner(spark, settings, References(secret_values, variables), dry_run=dry_run)

    # Statements

    def execute_sql(self, stmt: str) -> TableResult:
        """Run one statement.

        A statement of a stream returns when its query has started; ``wait()`` of the result waits for its end. A batch
        is done when this returns, but for SELECT, whose rows are read as they are taken.

        Args:
            stmt: The statement, with or without ``;``.

        Raises:
            SqlError: It is not one statement, or cannot run; the message has its place.
            MillraceError: A connector, a catalog or an option refuses.
        """
        statements = parse(stmt)
        if len(statements) != 1:
            raise SqlError(f"expected one statement, got {len(statements)}; execute_script runs several")
        return self._run(statements[0], stmt)

    def execute_script(self, script: str) -> list[TableResult]:
        """Run the statements of a script, one after the other, and return their results.

        The whole script is parsed before the first statement runs, its queries too. Streams start and go on together,
        unless ``SET 'table.dml-sync' = 'true'`` makes each INSERT wait for its end.

        Raises:
            SqlError, MillraceError: As `execute_sql`; the statements before have run.
        """
        return list(self.iterate_script(script))

    def iterate_script(self, script: str) -> Iterator[TableResult]:
        """Run the statements of a script as their results are taken; see `execute_script`."""
        statements = parse(script)
        with self._running(script):
            check_queries(statements)
        for statement in statements:
            yield self._run(statement, script)

    def sql_query(self, query: str) -> DataFrame:
        """Return the rows of a query as Spark's DataFrame: a stream in streaming mode.

        A result that is a changelog has the column ``__row_kind``. Where PyFlink has ``Table.execute()``, write
        ``execute_sql(query)``.

        Raises:
            SqlError: It is no query, or cannot run.
        """
        statements = parse(query)
        if len(statements) != 1 or not isinstance(statements[0], Query):
            raise SqlError("expected one query")
        with self._running(query):
            return self._runner.rows(statements[0].query)

    def explain_sql(self, stmt: str) -> str:
        """Return the plan of a query, an INSERT or a statement set, without starting it.

        Each step has its changelog mode: the kinds of rows that it may pass on.

        Raises:
            SqlError: It is none of these, or cannot run.
        """
        statements = parse(stmt)
        statement = statements[0] if len(statements) == 1 else None
        if isinstance(statement, Explain):
            statement = statement.statement
        if not isinstance(statement, Query | Insert | StatementSetStatement):
            raise SqlError("expected one query, INSERT or statement set to explain")
        with self._running(stmt):
            return self._runner.explain(statement)

    def plan_sql(self, script: str) -> JobPlan:
        """Return what statements would read, write and create, without running them, as ``millrace plan`` shows it.

        Queries, INSERT and statement sets are planned. In an environment with ``dry_run`` a script may also have
        definitions and settings, which its later statements see; nothing of them is kept.

        Raises:
            SqlError: A statement is wrong, or cannot be planned.
            MillraceError: A connector, a catalog or an option refuses.
        """
        plan, statements = JobPlan(), parse(script)
        with self._running(script):
            check_queries(statements)
        for statement in statements:
            with self._running(script):
                plan += self._runner.plan(statement)
        return plan

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of INSERT statements, which start together."""
        return StatementSet(self._runner)

    # Tables

    def from_path(self, path: str) -> DataFrame:
        """Return the rows of a table or view, by its name as SQL writes it.

        Raises:
            SqlError: There is none.
        """
        query = f"SELECT * FROM {_quoted(path)}"  # noqa: S608 - the name is parsed, and quoted again
        with self._running(query):
            return self._runner.rows(SqlText(query))

    def create_temporary_view(self, view_path: str, rows: DataFrame) -> None:
        """Give a DataFrame, a stream or not, a name for queries of this environment; it replaces a former one.

        Raises:
            SqlError: Its database does not exist.
        """
        name = self._runner.catalogs.resolve(_identifier(view_path))
        self._runner.catalogs.create(DataFrameView(name, rows), or_replace=True)

    def list_catalogs(self) -> list[str]:
        """Return the names of all catalogs."""
        return self._runner.catalogs.catalogs()

    def list_databases(self) -> list[str]:
        """Return the names of the databases of the current catalog."""
        return self._runner.catalogs.databases()

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the current database."""
        return self._runner.listings.names()

    def list_views(self) -> list[str]:
        """Return the names of the views of the current database."""
        return self._runner.listings.names(views_only=True)

    def list_temporary_tables(self) -> list[str]:
        """Return the names of the temporary tables and views of the current database."""
        here = (self.get_current_catalog(), self.get_current_database())
        names = [definition.identifier.parts for definition in self._runner.catalogs.temporary()]
        return sorted(name for *database, name in names if tuple(database) == here)

    def describe(self, table: str) -> str:
        """Return the columns of a table or view as text.

        Raises:
            SqlError: There is none.
        """
        return "\n".join(self.execute_sql(f"DESCRIBE {_quoted(table)}").lines())

    def get_current_catalog(self) -> str:
        """Return the name of the current catalog."""
        return self._runner.catalogs.current_catalog

    def get_current_database(self) -> str:
        """Return the name of the current database."""
        return self._runner.catalogs.current_database

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog the current one.

        Raises:
            SqlError: There is none of that name.
        """
        self._runner.catalogs.use(catalog_name, None)

    def use_database(self, database_name: str) -> None:
        """Make a database of the current catalog the current one.

        Raises:
            SqlError: There is none of that name.
        """
        self._runner.catalogs.use(self.get_current_catalog(), database_name)

    # Settings

    def get_config(self) -> TableConfig:
        """Return the settings, which SET changes too."""
        return TableConfig(self._runner.configuration)

    def _run(self, statement: Statement, script: str) -> TableResult:
        with self._running(script):
            return self._runner.run(statement)

    @contextmanager
    def _running(self, script: str) -> Iterator[None]:
        """Run a part of a script with the settings of this environment, and show the place of its error."""
        try:
            with self._runner.configuration.applied():
                yield
        except SqlError as error:
            raise error.with_script(script) from error


def _identifier(path: str) -> Identifier:
    # Only the parser knows how names are quoted
    statements = parse(f"DESCRIBE {path}")
    if len(statements) != 1 or not isinstance(statements[0], Describe):
        raise SqlError(f"expected the name of a table, such as orders or `a`.`b`.`c`; got {path!r}")
    return statements[0].name


def _quoted(path: str) -> str:
    return ".".join(map(backquote, _identifier(path).parts))
