"""GROUP BY over streams: sums that take back what was deleted, and the kind of change of each group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_sql.planner.accumulators import Accumulator, AggregateRewriter, same, set_size
from millrace_sql.planner.dialect.windows import WINDOW_COLUMNS
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import (
    INSERT_ONLY,
    Relation,
    Source,
    output_name,
    parse_expression,
    quoted,
    spark_sql,
)
from millrace_sql.planner.stars import name_columns
from millrace_sql.planner.state import StateStage
from millrace_sql.planner.steps import Step
from millrace_sql.planner.volatile import volatile_function

if TYPE_CHECKING:
    from sqlglot import exp

    from millrace_sql.planner.analysis import Analysis

_WINDOWS = {"WINDOW", "SESSION_WINDOW", "WINDOW_TIME"}
_GROUPING_SETS = ("rollup", "cube", "grouping_sets")
NOW, FIRST, ROWS = "__now", "__first", "__rows"


def aggregates_of(node: exp.Select) -> list[exp.Expr]:
    """Return the calls of aggregate functions in a query's SELECT and HAVING, not those of its window functions."""
    from sqlglot import exp

    parts = [*node.expressions, *([node.args["having"]] if node.args.get("having") else [])]
    return [call for part in parts for call in part.find_all(exp.AggFunc) if _belongs_to(call, node)]


def _belongs_to(call: exp.Expr, node: exp.Select) -> bool:
    from sqlglot import exp

    return (
        call.find_ancestor(exp.Select) is node
        and not isinstance(call.parent, exp.Window)
        and not (isinstance(call.parent, exp.Filter) and isinstance(call.parent.parent, exp.Window))
    )


@dataclass
class _Grouping:
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
    names: list[str] = field(default_factory=list)


def plan_aggregation(
    analysis: Analysis, text: QueryText, node: exp.Select, relation: Relation, sources: tuple[Source, ...]
) -> Relation:
    """Return the relation of a SELECT with GROUP BY, DISTINCT or aggregates, rewriting its tree.

    Raises:
        SqlError: Its result would not be exact.
    """
    if relation.has_state:
        message = (
            f"a second aggregation after {relation.origin or relation.step.operation} would need its former results: "
            "write the first one to a table of upsert-kafka, and aggregate that table"
        )
        raise text.error(message, node)
    if node.args.get("limit"):
        raise text.error("LIMIT cannot be kept up to date while groups change: run the query as a batch", node)
    grouping = _grouping_of(text, node, relation)
    if _is_windowed(grouping, relation):
        return _plan_windows(analysis, text, node, relation, grouping)
    if relation.is_changelog:
        analysis.asked |= relation.scans
        _check_changes(text, node, grouping, relation)
    analysis.is_rewritten = True
    analysis.output_mode = "update"
    name_columns(text, node, sources)
    return _plan_groups(analysis, text, node, relation, sources, grouping)


def _check_changes(text: QueryText, node: exp.Select, grouping: _Grouping, relation: Relation) -> None:
    """Refuse what would add a row to a group and not take it away again."""
    from sqlglot import exp

    for part in (*node.expressions, *grouping.groups, node.args.get("where"), node.args.get("having")):
        if part is not None and (function := volatile_function(part, relation.volatile)):
            message = (
                f"{function} returns something else when a row is taken away than when it was added: "
                f"group {relation.origin} by its columns"
            )
            raise text.error(message, part)
    for group in grouping.groups:
        if isinstance(group, exp.Column) and group.name.lower() in relation.event_time:
            message = (
                f"Spark drops late rows of groups of {spark_sql(group)}, which has a watermark, so that deletions "
                "would be lost: group by a column computed of it"
            )
            raise text.error(message, group)


def _grouping_of(text: QueryText, node: exp.Select, relation: Relation) -> _Grouping:

    group, having = node.args.get("group"), node.args.get("having")
    items = [(item.unalias(), output_name(item)) for item in _without_stars(text, node, relation)]
    if node.args.get("distinct"):
        if group is not None or aggregates_of(node):
            raise text.error("DISTINCT of groups would need their former results: leave out DISTINCT", node)
        return _Grouping([item for item, _ in items], items, None, is_distinct=True)
    groups = _groups_of(text, group, items, relation) if group is not None else []
    return _Grouping(groups, items, having.this if having is not None else None)


def _groups_of(
    text: QueryText, group: exp.Group, items: list[tuple[exp.Expr, str]], relation: Relation
) -> list[exp.Expr]:
    """Return the expressions of GROUP BY: those of SELECT for numbers, aliases and ALL."""
    from sqlglot import exp

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
    from sqlglot import exp

    if not any(item.is_star for item in node.expressions):
        return list(node.expressions)
    if relation.columns is None or node.args.get("joins") or len(node.expressions) > 1:
        raise text.error("name the columns: * cannot be grouped here", node)
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in relation.columns]


def _is_windowed(grouping: _Grouping, relation: Relation) -> bool:
    from sqlglot import exp

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


def _plan_windows(
    analysis: Analysis, text: QueryText, node: exp.Select, relation: Relation, grouping: _Grouping
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
    if _count_distinct_as_set(node):
        analysis.is_rewritten = True
    window_time = {"window_start", "window_end"} & {group.name.lower() for group in grouping.groups}
    if window_time and "window_time" not in {group.name.lower() for group in grouping.groups}:
        # The column that Spark's watermark is on: without it no window would ever be over
        from sqlglot import exp

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
        has_state=False,
    )


def _count_distinct_as_set(node: exp.Select) -> bool:
    """Rewrite COUNT(DISTINCT x), which Spark has in batches only, as the size of the set of x."""
    from sqlglot import exp

    found = False
    for call in aggregates_of(node):
        if isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct):
            target = call.parent if isinstance(call.parent, exp.Filter) else call
            target.replace(parse_expression(set_size(target)))
            found = True
    return found


def _plan_groups(
    analysis: Analysis,
    text: QueryText,
    node: exp.Select,
    relation: Relation,
    sources: tuple[Source, ...],
    grouping: _Grouping,
) -> Relation:
    rewriter = AggregateRewriter(text, relation, grouping.groups)
    items = [(rewriter.rewrite(item), name) for item, name in grouping.items]
    having = rewriter.rewrite(grouping.having) if grouping.having is not None else None
    source = next(source for source in sources if not source.relation.is_static)
    if rewriter.needs_state:
        inner, first = _state_input(analysis, node, source, grouping.groups, rewriter.accumulators), FIRST
    else:
        inner = _spark_aggregate(node, source, relation, grouping.groups, rewriter.accumulators)
        first = f"{NOW} = CURRENT_TIMESTAMP()"
    _write_outer(
        node,
        inner,
        items,
        _visible(grouping, relation, having),
        first,
        is_distinct=grouping.is_distinct and not relation.is_changelog,
    )
    key = _key_of(text, grouping)
    is_insert_only = grouping.is_distinct and not relation.is_changelog
    has_deletes = (relation.is_changelog and bool(grouping.groups)) or having is not None
    kinds = frozenset({"+I"} if is_insert_only else {"+I", "+U", "-D"} if has_deletes else {"+I", "+U"})
    shown = ", ".join(spark_sql(group) for group in grouping.groups)
    selected = f"select=[{', '.join(spark_sql(item) for item, _ in grouping.items)}]"
    details = tuple(
        filter(
            None,
            (
                f"groupBy=[{shown}]" if shown else "",
                selected,
                f"having=[{spark_sql(grouping.having)}]" if grouping.having is not None else "",
            ),
        )
    )
    step = Step("GroupAggregate", details, ChangelogMode(kinds), (relation.step,))
    return Relation(
        step,
        tuple(name for _, name in grouping.items),
        key=key,
        has_state=True,
        origin="" if is_insert_only else step.operation,
    )


def _visible(grouping: _Grouping, relation: Relation, having: str | None) -> str:
    """Return the condition by which a group is part of the result; empty when it always is."""
    conditions = [f"{ROWS} > 0"] if relation.is_changelog and grouping.groups else []
    if having is not None:
        conditions.append(f"COALESCE(({having}), FALSE)")
    return " AND ".join(conditions)


def _key_of(text: QueryText, grouping: _Grouping) -> tuple[str, ...]:
    names = []
    for group in grouping.groups:
        found = next((name.lower() for item, name in grouping.items if same(item, group)), None)
        if found is None:
            message = (
                f"a change of a group names it by {spark_sql(group)}, which the query leaves out: add it to SELECT"
            )
            raise text.error(message, group)
        names.append(found)
    return tuple(names)


def row_sign(source: Source, relation: Relation) -> str:
    """Return the expression of 1 for a row that is added and -1 for one that is taken away."""
    if not relation.is_changelog:
        return "1L"
    column = f"{quoted(source.alias)}.{ROW_KIND_COLUMN}" if source.alias else ROW_KIND_COLUMN
    return f"CASE WHEN {column} IN ('-U', '-D') THEN -1L ELSE 1L END"


def _spark_aggregate(
    node: exp.Select, source: Source, relation: Relation, groups: list[exp.Expr], accumulators: list[Accumulator]
) -> exp.Expr:
    """Return the aggregation that Spark keeps state for: a row of accumulators for each group."""
    sign = row_sign(source, relation)
    columns = [f"{spark_sql(group)} AS __group{number}" for number, group in enumerate(groups)]
    columns += [f"{accumulator.sql(sign)} AS __value{number}" for number, accumulator in enumerate(accumulators)]
    columns += [f"SUM({sign}) AS {ROWS}", f"MIN({NOW}) AS {NOW}"]
    inner = _emptied(node, columns)
    _add_time(inner, source)
    if groups:
        inner.set(
            "group",
            parse_expression(f"SELECT 1 GROUP BY {', '.join(spark_sql(group) for group in groups)}").args["group"],
        )
    return inner


def _add_time(inner: exp.Select, source: Source) -> None:
    """Give the rows of a stream the time of their micro-batch: a group whose least one is the current one is new."""
    from sqlglot import exp

    for item in (inner.args["from_"], *(inner.args.get("joins") or ())):
        table = item.this
        if table.alias_or_name.lower() != source.alias.lower():
            continue
        alias, joins = table.args.get("alias"), table.args.get("joins")
        table.set("alias", None)
        table.set("joins", None)
        body = parse_expression(f"SELECT *, CURRENT_TIMESTAMP() AS {NOW} FROM x")  # noqa: S608 - a constant
        body.args["from_"].set("this", table.copy())
        if alias is not None and alias.columns:
            body.args["from_"].this.set(
                "alias", exp.TableAlias(this=exp.to_identifier("__renamed"), columns=alias.columns)
            )
        item.set(
            "this",
            exp.Subquery(
                this=body,
                alias=exp.TableAlias(this=exp.to_identifier(source.alias or "__rows_of_stream", quoted=True)),
                joins=joins,
            ),
        )
        return


def _state_input(
    analysis: Analysis, node: exp.Select, source: Source, groups: list[exp.Expr], accumulators: list[Accumulator]
) -> exp.Expr:
    """Return a read of the accumulators that a stage before the query keeps; its input is what the query groups."""
    columns = [f"{spark_sql(group)} AS __group{number}" for number, group in enumerate(groups)]
    columns += [f"{accumulator.argument} AS __value{number}" for number, accumulator in enumerate(accumulators)]
    columns.append(f"{row_sign(source, source.relation)} AS __sign")
    stage = StateStage(
        f"millrace_state_{len(analysis.stages)}_{id(node):x}", _emptied(node, columns), len(groups), tuple(accumulators)
    )
    analysis.stages.append(stage)
    return parse_expression(f"SELECT * FROM {quoted(stage.view_name)}")  # noqa: S608 - a generated name


def _emptied(node: exp.Select, columns: list[str]) -> exp.Select:
    """Return a copy of a query's FROM and WHERE that selects other columns."""
    inner = node.copy()
    for name in ("group", "having", "distinct", "with_", "limit"):
        inner.set(name, None)
    inner.set("expressions", parse_expression(f"SELECT {', '.join(columns)}").expressions)
    return inner


def _write_outer(
    node: exp.Select, inner: exp.Expr, items: list[tuple[str, str]], visible: str, first: str, *, is_distinct: bool
) -> None:
    """Make a query one over the rows of its changed groups, which computes the result and the kind of change."""
    columns = [f"{item} AS {quoted(name)}" for item, name in items]
    kind = f"CASE WHEN {first} THEN '+I' ELSE '+U' END"
    if visible:
        kind = f"CASE WHEN NOT ({visible}) THEN '-D' WHEN {first} THEN '+I' ELSE '+U' END"
    where = first if is_distinct else f"({visible}) OR NOT ({first})" if visible else ""
    row_kind = [] if is_distinct else [f"{kind} AS {ROW_KIND_COLUMN}"]
    selected = f"SELECT {', '.join((*columns, *row_kind))} FROM (SELECT 1) AS __groups"  # noqa: S608 - of the parsed query
    outer = parse_expression(f"{selected} WHERE {where}" if where else selected)
    outer.args["from_"].this.set("this", inner)
    for name in ("group", "having", "distinct", "joins", "laterals", "where", "hint"):
        node.set(name, None)
    for name in ("expressions", "from_", "where"):
        node.set(name, outer.args.get(name))
