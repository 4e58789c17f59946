"""GROUP BY windows of time over streams, which Spark itself returns when a window is over."""

from __future__ import annotations

from sqlglot import exp

from millrace_sql.planner.accumulators import set_size
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.dialect.windows import WINDOW_COLUMNS
from millrace_sql.planner.grouping import Grouping, aggregates_of
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import INSERT_ONLY, Relation, parse_expression, quoted, spark_sql
from millrace_sql.planner.steps import Step
from millrace_sql.planner.window_stages import is_local_time

_WINDOWS = {"WINDOW", "SESSION_WINDOW", "WINDOW_TIME"}


def is_windowed(grouping: Grouping, relation: Relation) -> bool:
    """Return whether a query groups by windows of time."""
    for group in grouping.groups:
        calls = {
            (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).upper()
            for call in group.find_all(exp.Func)
        }
        if calls & _WINDOWS:
            return True
        if isinstance(group, exp.Column) and group.name.lower() in WINDOW_COLUMNS & {
            name.lower() for name in relation.columns or ()
        }:
            return True
    return False


def plan_windows(
    analysis: Analysis, text: QueryText, node: exp.Select, relation: Relation, grouping: Grouping
) -> Relation:
    """Leave a windowed aggregation of inserted rows to Spark, which returns a window's rows when it is over."""
    if relation.is_changelog:
        message = (
            f"windows over the changes of {relation.origin}: Spark drops late rows, so that deletions would be lost; "
            "group by a column computed of the time, such as date_trunc('HOUR', ts)"
        )
        raise text.error(message, node)
    if not relation.event_time:
        message = (
            "a window is complete when the watermark has passed it: declare WATERMARK FOR on the table's column of time"
        )
        raise text.error(message, node)
    _check_window_columns(text, node, relation)
    if _count_distinct_as_set(node):
        analysis.is_rewritten = True
    window_time = {"window_start", "window_end"} & {group.name.lower() for group in grouping.groups}
    if window_time and "window_time" not in {group.name.lower() for group in grouping.groups}:
        # The column that Spark's watermark is on: without it no window would ever be over

        group = node.args["group"]
        last = next(item for item in group.expressions if item.name.lower() in window_time)
        end = last.this.meta["end"] + 1
        prefix = f"{quoted(last.table)}." if last.table else ""
        analysis.edit(text, end, end, f", {prefix}window_time")
        group.append("expressions", exp.column("window_time", table=last.table or None))
    shown = ", ".join(spark_sql(group) for group in grouping.groups)
    details = (f"groupBy=[{shown}]", f"select=[{', '.join(spark_sql(item) for item, _ in grouping.items)}]")
    return Relation(
        Step("WindowAggregate", details, INSERT_ONLY, (relation.step,)),
        tuple(name for _, name in grouping.items),
        event_time=frozenset(name.lower() for item, name in grouping.items if item.name.lower() == "window_time"),
    )


def _check_window_columns(text: QueryText, node: exp.Select, relation: Relation) -> None:
    """Refuse Spark's own functions of windows for a column whose watermark they do not find."""
    for call in node.find_all(exp.Func):
        name, column = spark_sql(call).partition("(")[0].strip("`").upper(), call.find(exp.Column)
        if name in {"WINDOW", "SESSION_WINDOW"} and column is not None and is_local_time(relation, column.name.lower()):
            message = (
                f"a {name.lower()} of {column.name}, a TIMESTAMP without a time zone, in a stream: write "
                f"TABLE(TUMBLE(TABLE t, DESCRIPTOR({column.name}), size)) or TABLE(HOP(...)), or declare the column as "
                "TIMESTAMP_LTZ(3)"
            )
            raise text.error(message, node)


def _count_distinct_as_set(node: exp.Select) -> bool:
    """Rewrite COUNT(DISTINCT x), which Spark has in batches only, as the size of the set of x."""
    is_rewritten = False
    for call in aggregates_of(node):
        if isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct):
            target = call.parent if isinstance(call.parent, exp.Filter) else call
            target.replace(parse_expression(set_size(target)))
            is_rewritten = True
    return is_rewritten
