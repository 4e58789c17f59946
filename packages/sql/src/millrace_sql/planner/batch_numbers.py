"""ROW_NUMBER() in a batch, which Spark computes: of equal rows, the first that has arrived comes first, as in a stream."""

from __future__ import annotations

from itertools import dropwhile
from typing import TYPE_CHECKING, Any

from millrace_sql.planner.query_text import DIALECT, QueryText
from millrace_sql.planner.relations import Source

if TYPE_CHECKING:
    from sqlglot import exp

    from millrace_sql.planner.analysis import Analysis

_ARRIVAL = "MONOTONICALLY_INCREASING_ID()"


def number_by_arrival(analysis: Analysis, text: QueryText, node: exp.Select, sources: tuple[Source, ...]) -> None:
    """Add the arrival of rows to ORDER BY of a SELECT's ROW_NUMBER(), in its text.

    The processing time of all rows of a batch is one. Rows in its descending order are those of the last arrival first.
    """
    from sqlglot import exp

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
    import sqlglot

    starts = [part.meta["start"] for part in window.walk() if "start" in part.meta]
    tokens = (token for token in sqlglot.tokenize(text.text, dialect=DIALECT) if starts and token.start >= min(starts))
    depth = 0
    for token in dropwhile(lambda token: token.text.upper() != "OVER", tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text == ")":
            return int(token.start)
    return None
