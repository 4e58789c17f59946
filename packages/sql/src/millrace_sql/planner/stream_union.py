"""UNION of streams, and the set operations that streams do not have."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from millrace.contracts import ChangelogMode
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import Relation, parse_expression
from millrace_sql.planner.steps import Step


def distinct_unions(tree: Any) -> Any:
    """Return a query's tree with each UNION as a SELECT DISTINCT of a UNION ALL."""
    for union in list(tree.find_all(exp.Union)):
        if not union.args.get("distinct"):
            continue
        union.set("distinct", False)
        for inner in (union.left, union.right):
            _keep_copies(inner)
        select = exp.select("*").distinct()
        for name in ("with_", "order", "limit", "offset"):
            select.set(name, union.args.get(name))
            union.set(name, None)
        if union is tree:
            tree = select
        else:
            union.replace(select)
        alias = exp.TableAlias(this=exp.to_identifier("__union"))
        select.set("from_", exp.From(this=exp.Subquery(this=union, alias=alias)))
    return tree


def _keep_copies(query: Any) -> None:
    """Make UNION ALL of the UNIONs that a UNION combines: its own result has each row once."""
    inner = query.this if isinstance(query, exp.Subquery) else query
    if isinstance(inner, exp.Union) and not (inner.args.get("limit") or inner.args.get("offset")):
        inner.set("distinct", False)
        for side in (inner.left, inner.right):
            _keep_copies(side)


def plan_stream_union(
    analysis: Analysis, text: QueryText, node: exp.SetOperation, sides: tuple[Relation, ...]
) -> Relation:
    """Return the relation of a set operation of streams; a side without changes gets their column of row kinds.

    Raises:
        SqlError: The operation is not UNION, or a side has no old rows of its updates.
    """
    _check(text, node, sides)
    for side in sides:
        analysis.ask_for_old_rows(text, side)
    changes = [side for side in sides if side.is_changelog]
    mode = ChangelogMode(frozenset().union(*(side.mode.row_kinds for side in sides)))
    if changes and len(changes) < len(sides):
        for query, side in zip((node.left, node.right), sides, strict=True):
            if not side.is_changelog:
                _add_row_kind(query)
    types = {name: type_ for name, type_ in sides[0].types.items() if sides[1].types.get(name) == type_}
    return Relation(
        Step("Union", ("all=[true]",), mode, tuple(side.step for side in sides)),
        sides[0].columns,
        types,
        sides[0].event_time & sides[1].event_time,
        scans=sides[0].scans | sides[1].scans,
        states=sides[0].states | sides[1].states,
        is_static=all(side.is_static for side in sides),
        origin=changes[0].origin if changes else "",
    )


def _check(text: QueryText, node: exp.SetOperation, sides: tuple[Relation, ...]) -> None:

    name = type(node).__name__.upper()
    if not isinstance(node, exp.Union):
        advice = "run the query as a batch: SET 'execution.runtime-mode' = 'batch'"
        raise text.error(f"{name} of streams would need all of their rows: {advice}", node)
    if node.args.get("order") or node.args.get("limit"):
        raise text.error(
            "a stream cannot be sorted or cut: leave out ORDER BY and LIMIT, or run the query as a batch", node
        )
    if len({side.is_static for side in sides}) > 1:
        message = (
            "a UNION of a stream with rows that are no stream, such as VALUES or a table of a database: Spark would "
            "read them in each micro-batch; write them to a topic first, or run the query as a batch"
        )
        raise text.error(message, node)


def _add_row_kind(query: Any) -> None:

    if isinstance(query, exp.Subquery):
        _add_row_kind(query.this)
    elif isinstance(query, exp.SetOperation):
        for side in (query.left, query.right):
            _add_row_kind(side)
    else:
        query.append("expressions", parse_expression("'+I' AS __row_kind"))
