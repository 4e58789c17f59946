"""SELECT in a batch, which Spark runs as it is written, but for the order of equal rows."""

from __future__ import annotations

from itertools import dropwhile
from typing import Any

import sqlglot
from sqlglot import exp

from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.query_text import DIALECT, QueryText
from millrace_sql.planner.relations import INSERT_ONLY, Relation, Source, spark_sql
from millrace_sql.planner.steps import Step
from millrace_sql.planner.volatile import selected_columns

_ARRIVAL = "MONOTONICALLY_INCREASING_ID()"


def plan_batch_select(analysis: Analysis, text: QueryText, node: exp.Select, sources: tuple[Source, ...]) -> Relation:
    """Return the relation of a SELECT of a batch."""
    _number_by_arrival(analysis, text, node, sources)
    step: Step | None = None
    for source in sources:
        kind = "Join" if step is not None else ""
        step = (
            Step(kind, _join_details(source), INSERT_ONLY, (step, source.relation.step))
            if step
            else source.relation.step
        )
    inputs = (step,) if step else ()
    details = [f"select=[{', '.join(spark_sql(item) for item in node.expressions)}]"]
    if where := node.args.get("where"):
        details.append(f"where=[{spark_sql(where.this)}]")
    aggregates = node.args.get("group") is not None or any(item.find(exp.AggFunc) for item in node.expressions)
    step = Step("Aggregate" if aggregates else "Calc", tuple(details), INSERT_ONLY, inputs)
    times = frozenset[str]().union(*(source.relation.processing_time for source in sources))
    return Relation(step, processing_time=selected_columns(node, Relation(step, processing_time=times)).processing_time)


def _join_details(source: Source) -> tuple[str, ...]:
    assert source.join is not None  # noqa: S101 - only the first source has no join
    condition = source.join.args.get("on")
    kind = f"joinType=[{' '.join(filter(None, (source.join.side, source.join.kind or 'INNER')))}]"
    return (kind, *((f"where=[{spark_sql(condition)}]",) if condition is not None else ()))


def _number_by_arrival(analysis: Analysis, text: QueryText, node: exp.Select, sources: tuple[Source, ...]) -> None:
    """Add the arrival of rows to ORDER BY of a SELECT's ROW_NUMBER(), in its text.

    The processing time of all rows of a batch is one. Rows in its descending order are those of the last arrival first.
    """
    times = frozenset[str]().union(*(source.relation.processing_time for source in sources))
    for window in node.find_all(exp.Window):
        order = window.args.get("order")
        if not isinstance(window.this, exp.RowNumber) or order is None or window.args.get("spec"):
            continue
        if window.find_ancestor(exp.Select) is not node or (end := _end_of(text, window)) is None:
            continue
        last = order.expressions[-1]
        is_time = isinstance(last.this, exp.CurrentTimestamp) or last.this.name.lower() in times
        direction = " DESC" if is_time and last.args.get("desc") else ""
        analysis.edit(text, end, end, f", {_ARRIVAL}{direction}")


def _end_of(text: QueryText, window: Any) -> int | None:
    """Return the offset of the parenthesis that ends a window; None where nothing tells its place."""
    starts = [part.meta["start"] for part in window.walk() if "start" in part.meta]
    tokens = (token for token in sqlglot.tokenize(text.text, dialect=DIALECT) if starts and token.start >= min(starts))
    depth = 0
    for token in dropwhile(lambda token: token.text.upper() != "OVER", tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text == ")":
            return int(token.start)
    return None
