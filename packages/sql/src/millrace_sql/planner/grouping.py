"""The groups of a query: GROUP BY, DISTINCT, and what is selected of each group."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from millrace_sql.planner.ordered_values import AggregateCall
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import Relation, output_name

_GROUPING_SETS = ("rollup", "cube", "grouping_sets")


def aggregates_of(node: exp.Select) -> list[exp.Expr]:
    """Return the calls of aggregate functions in a query's SELECT and HAVING, not those of its window functions."""
    parts = [*node.expressions, *([node.args["having"]] if node.args.get("having") else [])]
    return [call for part in parts for call in part.find_all(exp.AggFunc) if _belongs_to(call, node)]


def aggregate_calls(node: exp.Select) -> list[AggregateCall]:
    """Return the calls of aggregate functions in a query's SELECT and HAVING, with their clauses."""
    return [AggregateCall.of(_with_clauses(call)) for call in aggregates_of(node)]


def _belongs_to(call: exp.Expr, node: exp.Select) -> bool:

    return call.find_ancestor(exp.Select) is node and not isinstance(_with_clauses(call).parent, exp.Window)


def _with_clauses(call: exp.Expr) -> exp.Expr:

    while isinstance(call.parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls) and call.arg_key == "this":
        call = call.parent
    return call


@dataclass
class Grouping:
    """A query with GROUP BY.

    Attributes:
        groups: The expressions of GROUP BY, as the query's source has them.
        items: What it selects: expressions and the names of their columns.
        having: The condition of HAVING.
        is_distinct: Whether it is SELECT DISTINCT.
    """

    groups: list[exp.Expr]
    items: list[tuple[exp.Expr, str]]
    having: exp.Expr | None
    is_distinct: bool = False


def grouping_of(text: QueryText, node: exp.Select, relation: Relation) -> Grouping:
    """Return what a query groups by, and what it selects of each group.

    Raises:
        SqlError: It cannot be told, or a stream has no such groups.
    """
    group, having = node.args.get("group"), node.args.get("having")
    items = [(item.unalias(), output_name(item)) for item in _without_stars(text, node, relation)]
    if node.args.get("distinct"):
        if group is not None or aggregates_of(node):
            raise text.error("DISTINCT of groups would need their former results: leave out DISTINCT", node)
        return Grouping([item for item, _ in items], items, None, is_distinct=True)
    groups = _groups_of(text, group, items, relation) if group is not None else []
    return Grouping(groups, items, having.this if having is not None else None)


def _groups_of(
    text: QueryText, group: exp.Group, items: list[tuple[exp.Expr, str]], relation: Relation
) -> list[exp.Expr]:
    """Return the expressions of GROUP BY: those of SELECT for numbers, aliases and ALL."""
    sets = (exp.Rollup, exp.Cube, exp.GroupingSets)
    if any(isinstance(item, sets) for item in group.expressions) or any(
        group.args.get(name) for name in _GROUPING_SETS
    ):
        message = "GROUPING SETS, ROLLUP and CUBE of a stream: write a query for each set, and UNION ALL"
        raise text.error(message, group)
    if group.args.get("all"):
        return [item for item, _ in items if item.find(exp.AggFunc) is None]
    aliases = {name.lower(): item for item, name in items}
    known = {name.lower() for name in relation.columns or ()}
    groups = []
    for item in group.expressions:
        name = item.name.lower()
        if isinstance(item, exp.Literal) and item.name.isdigit() and 0 < int(item.name) <= len(items):
            groups.append(items[int(item.name) - 1][0])
        elif isinstance(item, exp.Column) and not item.table and name in aliases and name not in known:
            groups.append(aliases[name])
        else:
            groups.append(item)
    return groups


def _without_stars(text: QueryText, node: exp.Select, relation: Relation) -> list[exp.Expr]:

    if not any(item.is_star for item in node.expressions):
        return list(node.expressions)
    if relation.columns is None or node.args.get("joins") or len(node.expressions) > 1:
        raise text.error("name the columns: * cannot be grouped here", node)
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in relation.columns]
