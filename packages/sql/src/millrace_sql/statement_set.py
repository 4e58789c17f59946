"""A set of INSERT statements that start together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace_sql.errors import SqlError
from millrace_sql.parser import parse
from millrace_sql.statements import Insert

if TYPE_CHECKING:
    from millrace_sql.execution.results import TableResult
    from millrace_sql.execution.statements import StatementRunner


class StatementSet:
    """INSERT statements that are checked and started together; `TableEnvironment.create_statement_set` creates one.

    Each runs as a query of its own: Spark has one sink a query. A table that several of them read is read by each.

    Args:
        runner: Runs the statements.
    """

    def __init__(self, runner: StatementRunner) -> None:
        self._runner = runner
        self._inserts: list[Insert] = []

    def add_insert_sql(self, stmt: str) -> StatementSet:
        """Add an INSERT statement, and return the set.

        Raises:
            SqlError: It is not one INSERT statement.
        """
        statements = parse(stmt)
        if len(statements) != 1 or not isinstance(statements[0], Insert):
            raise SqlError("expected one INSERT statement")
        self._inserts.append(statements[0])
        return self

    def explain(self) -> str:
        """Return the plans of all statements, without starting them."""
        from millrace_sql.statements import ExecuteStatementSet as Statement

        with self._runner.configuration.applied():
            return self._runner.explain(Statement(tuple(self._inserts)))

    def execute(self) -> TableResult:
        """Start all statements, empty the set, and return their result: ``wait()`` waits for all of them.

        Raises:
            SqlError: The set is empty, or one of them cannot run; then none does.
        """
        if not self._inserts:
            raise SqlError("the statement set is empty: add_insert_sql adds a statement")
        with self._runner.configuration.applied():
            result = self._runner.run_inserts(self._inserts)
        self._inserts = []
        return result
