"""Group by the sessions of the table function SESSION, as Spark does by its function `session_window`.

Spark merges the rows of a session where they are grouped, not before, so that only a grouping can be rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.dialect.windows import SESSION_COLUMN
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import parse_expression

_FIELDS = {
    "window_start": f"{SESSION_COLUMN}.start",
    "window_end": f"{SESSION_COLUMN}.end",
    "window_time": f"({SESSION_COLUMN}.end - INTERVAL '0.000001' SECOND)",
}


def group_by_sessions(analysis: Analysis, text: QueryText, node: exp.Select) -> None:
    """Rewrite a SELECT that groups the table of SESSION, in its text and its tree.

    Raises:
        SqlError: It does something else with SESSION.
    """
    inner = _session_of(node)
    if inner is None:
        return
    table = inner.args["from_"].this
    keys = text.session_keys.get(table.parts[-1].meta.get("end", -1), ())
    group = node.args.get("group")
    items = group.expressions if group is not None else []
    names = [item.name.lower() for item in items if _is_column(item)]
    others = [item for item in items if item.name.lower() not in _FIELDS]
    is_whole = {"window_start", "window_end"} <= set(names) and len(names) == len(items)
    if not is_whole or node.args.get("joins") or {item.name.lower() for item in others} != set(keys):
        wanted = ", ".join(("window_start", "window_end", *keys))
        message = (
            f"Spark makes sessions where rows are grouped: write GROUP BY {wanted}, the columns of the window and of "
            "PARTITION BY, and join or select in a query around it"
        )
        raise text.error(message, group or table)
    _rewrite_fields(analysis, text, node)
    first, last = min(_offsets(items)), max(end for item in items for end in _ends(item))
    listed = ", ".join((SESSION_COLUMN, *(_source_of(text, item) for item in others)))
    analysis.edit(text, first, last + 1, listed)
    group.set("expressions", [parse_expression(SESSION_COLUMN), *others])


def _session_of(node: exp.Select) -> Any:
    """Return the query within FROM that the table function has become; None where there is none."""
    from_ = node.args.get("from_")
    source = from_.this.this if from_ is not None and isinstance(from_.this, exp.Subquery) else None
    if not isinstance(source, exp.Select):
        return None
    return source if any(item.alias == SESSION_COLUMN for item in source.expressions) else None


def _rewrite_fields(analysis: Analysis, text: QueryText, node: exp.Select) -> None:
    """Replace the columns of the window but in GROUP BY, which is replaced as a whole."""
    for column in list(node.find_all(exp.Column)):
        name = column.name.lower()
        is_grouped = column.find_ancestor(exp.Group, exp.Select) is node.args["group"]
        if name not in _FIELDS or is_grouped or column.find_ancestor(exp.Select) is not node:
            continue
        replacement = _FIELDS[name]
        if column.parent is node:
            replacement += f" AS {name}"
        analysis.edit(text, min(_offsets([column])), max(_ends(column)) + 1, replacement)
        column.replace(parse_expression(replacement))


def _is_column(item: Any) -> bool:

    return isinstance(item, exp.Column)


def _offsets(items: Any) -> Iterator[int]:
    return (part.meta["start"] for item in items for part in item.walk() if "start" in part.meta)


def _ends(item: Any) -> Iterator[int]:
    return (part.meta["end"] for part in item.walk() if "end" in part.meta)


def _source_of(text: QueryText, item: Any) -> str:
    return text.text[min(_offsets([item])) : max(_ends(item)) + 1]
