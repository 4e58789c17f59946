"""Find out whether Spark may read a table of a query in several places."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from millrace_sql.planner.relations import parse_expression


def reads_scans_once(sql: str) -> bool:
    """Return whether Spark reads each table that a batch names in one place, with one set of filters.

    It reads the tables of a WITH wherever that is named. It also repeats tables of a query to find the rows for which
    a subquery within an expression, or a LATERAL one, has to be computed.

    Args:
        sql: The query, which names each table once.
    """
    try:
        tree = parse_expression(sql)
    except SqlglotError:
        return False
    return tree.find(exp.With, exp.Lateral) is None and all(map(_is_relation, tree.find_all(exp.Select)))


def _is_relation(select: exp.Expr) -> bool:
    """Return whether a SELECT is the query, or in the FROM of another one, alone or with UNION and such."""
    relation = select
    while isinstance(relation.parent, exp.Subquery | exp.SetOperation):
        relation = relation.parent
    # The condition of a join, too, is a child of it
    return relation.parent is None or (isinstance(relation.parent, exp.From | exp.Join) and relation.arg_key == "this")
