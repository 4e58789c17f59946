"""Stars within expressions, such as ``TO_JSON(STRUCT(*))``, which would see the columns that a rewritten query adds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import Source, spark_sql


def name_columns(text: QueryText, node: exp.Select, sources: tuple[Source, ...]) -> None:
    """Replace the stars within a query's expressions by the columns that they mean; those of SELECT itself stay.

    Args:
        text: The query, for errors.
        node: The query, whose tree is changed.
        sources: What it selects from.

    Raises:
        SqlError: The columns are not known.
    """
    for star in list(node.find_all(exp.Star)):
        item: Any = star.parent if isinstance(star.parent, exp.Column) else star
        if item.find_ancestor(exp.Select) is not node or _is_whole(item, node):
            continue
        named = [source for source in sources if item is star or source.alias.lower() == item.table.lower()]
        is_known = named and all(source.relation.columns is not None for source in named)
        if not is_known or _merges_columns(sources) or node.args.get("laterals"):
            message = (
                f"the columns of {spark_sql(item.parent)} are not known before the query runs: name them for the *"
            )
            raise text.error(message, node)
        hidden = {name.name.lower() for name in star.args.get("except_") or ()}
        columns = list(_columns(named, hidden))
        if isinstance(item.parent, exp.Count):
            item.parent.set("expressions", columns[1:])
            columns = columns[:1]
        item.replace(columns if len(columns) > 1 else columns[0])


def _is_whole(item: Any, node: exp.Select) -> bool:
    """Return whether a star is a column of SELECT, or the rows that COUNT(*) counts."""
    return item.parent is node or (isinstance(item.parent, exp.Count) and isinstance(item, exp.Star))


def _merges_columns(sources: tuple[Source, ...]) -> bool:
    joins = (source.join for source in sources if source.join is not None)
    return any(join.args.get("using") or join.method or (join.kind or "").upper() in {"SEMI", "ANTI"} for join in joins)


def _columns(sources: list[Source], hidden: set[str]) -> Iterator[exp.Column]:

    for source in sources:
        for name in source.relation.columns or ():
            if name.lower() not in hidden:
                table = exp.to_identifier(source.alias, quoted=True) if source.alias else None
                yield exp.column(exp.to_identifier(name, quoted=True), table=table)
