"""Queries of a script that are parsed before its first statement runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from millrace_sql.errors import SqlError, SqlSyntaxError
from millrace_sql.planner.query_text import parse_query
from millrace_sql.script_texts import SqlText
from millrace_sql.statements import CreateTable, CreateView, ExecuteStatementSet, Explain, Insert, Query, Statement


def check_queries(statements: Sequence[Statement]) -> None:
    """Check that the queries of statements can be parsed.

    What a query may contain depends on settings, which statements before it may change: it is checked when it runs.

    Raises:
        SqlSyntaxError: One cannot.
    """
    for query in (query for statement in statements for query in _queries(statement)):
        try:
            parse_query(query)
        except SqlSyntaxError:
            raise
        except SqlError:
            continue


def _queries(statement: object) -> Iterator[SqlText]:
    if isinstance(statement, ExecuteStatementSet):
        yield from (insert.query for insert in statement.inserts)
    elif isinstance(statement, Explain):
        yield from _queries(statement.statement)
    elif isinstance(statement, Insert | Query | CreateView | CreateTable) and statement.query is not None:
        yield statement.query
