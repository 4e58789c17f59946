"""GROUP BY over streams: sums that take back what was deleted, and the kind of change of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_sql.planner.accumulators import Accumulator, AggregateRewriter, same
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.argument_types import type_of_sum
from millrace_sql.planner.grouping import Grouping, aggregate_calls, grouping_of
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import (
    Relation,
    Source,
    parse_expression,
    quoted,
    spark_sql,
)
from millrace_sql.planner.stars import name_columns
from millrace_sql.planner.state import StateStage
from millrace_sql.planner.steps import Step, steps_of
from millrace_sql.planner.volatile import volatile_function
from millrace_sql.planner.window_aggregation import is_windowed, plan_windows
from millrace_sql.planner.window_stages import is_local_time

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


NOW, FIRST, ROWS = "__now", "__first", "__rows"


def plan_aggregation(
    analysis: Analysis, text: QueryText, node: exp.Select, relation: Relation, sources: tuple[Source, ...]
) -> Relation:
    """Return the relation of a SELECT with GROUP BY, DISTINCT or aggregates, rewriting its tree.

    Raises:
        SqlError: Its result would not be exact.
    """
    if node.args.get("limit"):
        raise text.error("LIMIT cannot be kept up to date while groups change: run the query as a batch", node)
    grouping = grouping_of(text, node, relation)
    if is_windowed(grouping, relation):
        return plan_windows(analysis, text, node, relation, grouping)
    if any(step.name == "WindowAggregate" for step in steps_of(relation.step)):
        message = (
            "a group of windows would go on after they are over, and Spark returns windows once: write them to a "
            "table, and group that, or group by windows of window_time"
        )
        raise text.error(message, node)
    if relation.is_changelog:
        analysis.asked |= relation.scans
        _check_changes(text, node, grouping, relation)
    # What a group was before leaves the groups of this step
    analysis.asked_states |= relation.states
    analysis.is_rewritten = True
    name_columns(text, node, sources)
    return _plan_groups(analysis, text, node, relation, sources, grouping)


def _check_changes(text: QueryText, node: exp.Select, grouping: Grouping, relation: Relation) -> None:
    """Refuse what would add a row to a group and not take it away again."""
    for part in (*node.expressions, *grouping.groups, node.args.get("where"), node.args.get("having")):
        if part is not None and (function := volatile_function(part, relation.volatile)):
            message = (
                f"{function} returns something else when a row is taken away than when it was added: "
                f"group {relation.origin} by its columns"
            )
            raise text.error(message, part)


def _plan_groups(
    analysis: Analysis,
    text: QueryText,
    node: exp.Select,
    relation: Relation,
    sources: tuple[Source, ...],
    grouping: Grouping,
) -> Relation:
    is_insert_only = grouping.is_distinct and not relation.is_changelog
    state = analysis.new_state()
    keeps_results = state in analysis.kept_states
    rewriter = AggregateRewriter(
        text,
        relation,
        grouping.groups,
        keeps_results=keeps_results,
        keeps_order=any(call.is_ordered for call in aggregate_calls(node)),
    )
    items = [(_of_rows(rewriter.rewrite(item), item, grouping, relation), name) for item, name in grouping.items]
    having = rewriter.rewrite(grouping.having) if grouping.having is not None else None
    source = next(source for source in sources if not source.relation.is_static)
    groups = [_without_watermark(group, relation) for group in grouping.groups]
    if rewriter.needs_state:
        inner = _state_input(analysis, node, source, groups, rewriter.accumulators, returns_old=keeps_results)
        first = FIRST
    else:
        inner = _spark_aggregate(node, source, relation, groups, rewriter.accumulators)
        first = f"{NOW} = CURRENT_TIMESTAMP()"
        analysis.output_mode = "update"
    visible = _visible(grouping, relation, having)
    kind, where = _old_and_new(visible, having) if keeps_results else _changes_of(visible, first)
    if is_insert_only:
        kind, where = "", first
    _write_outer(node, inner, items, kind, where)
    has_deletes = (relation.is_changelog and bool(grouping.groups)) or having is not None
    kinds = frozenset({"+I"} if is_insert_only else {"+I", "+U", "-D"} if has_deletes else {"+I", "+U"})
    if keeps_results and not is_insert_only:
        kinds = frozenset({"+I", "-D"}) if having is not None else kinds | {"-U"}
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
        _types_of_results(grouping, relation),
        key=_key_of(analysis, grouping, state),
        states=frozenset({state}),
        has_one_row=not grouping.groups and having is None,
        origin="" if is_insert_only else step.operation,
    )


def _of_rows(value: str, item: exp.Expr, grouping: Grouping, relation: Relation) -> str:
    """Return an item that is computed of groups with rows only: a deleted one must not divide by its count."""
    if not (relation.is_changelog and grouping.groups) or any(same(item, group) for group in grouping.groups):
        return value
    return f"CASE WHEN {ROWS} > 0 THEN {value} END"


def _without_watermark(group: exp.Expr, relation: Relation) -> exp.Expr:
    """Return a group by which Spark drops no late rows, as it does by a column with a watermark."""
    is_column = isinstance(group, exp.Column) and group.name.lower() in relation.event_time
    if not is_column or is_local_time(relation, group.name.lower()):
        return group
    # An expression that Spark's optimizer does not simplify to the column
    tree: exp.Expr = parse_expression(f"TIMESTAMP_MICROS(UNIX_MICROS({spark_sql(group)}))")
    return tree


def _visible(grouping: Grouping, relation: Relation, having: str | None) -> str:
    """Return the condition by which a group is part of the result; empty when it always is."""
    conditions = [f"{ROWS} > 0"] if relation.is_changelog and grouping.groups else []
    if having is not None:
        conditions.append(f"COALESCE(({having}), FALSE)")
    return " AND ".join(conditions)


def _changes_of(visible: str, first: str) -> tuple[str, str]:
    """Return the expression of a changed group's kind, and the condition by which it is returned."""
    kind = f"CASE WHEN {first} THEN '+I' ELSE '+U' END"
    if visible:
        kind = f"CASE WHEN NOT ({visible}) THEN '-D' WHEN {first} THEN '+I' ELSE '+U' END"
    return kind, f"({visible}) OR NOT ({first})" if visible else ""


def _old_and_new(visible: str, having: str | None) -> tuple[str, str]:
    """Return the kinds of old and new results, and the condition by which they are part of the result.

    Whether the other one of two results passes HAVING is not known: one is deleted, and the other inserted.
    """
    if having is not None:
        return "CASE WHEN __old THEN '-D' ELSE '+I' END", visible
    kind = "CASE WHEN __old AND __paired THEN '-U' WHEN __old THEN '-D' WHEN __paired THEN '+U' ELSE '+I' END"
    return kind, visible


def _key_of(analysis: Analysis, grouping: Grouping, state: int) -> tuple[str, ...]:
    """Return the columns of the groups in the result; none where one is left out, and old results are needed."""
    names = []
    for group in grouping.groups:
        column = next((name.lower() for item, name in grouping.items if same(item, group)), None)
        if column is None:
            analysis.asked_states.add(state)
            return ()
        names.append(column)
    return tuple(names)


def _types_of_results(grouping: Grouping, relation: Relation) -> dict[str, DataType]:
    """Return the types of groups, counts, least and greatest values that are known, by the names of their columns."""
    from pyspark.sql.types import LongType

    types: dict[str, DataType] = {}
    for item, name in grouping.items:
        value = item.this if isinstance(item, exp.Filter) else item
        value = value.this if isinstance(value, exp.Min | exp.Max) else value
        if isinstance(value, exp.Count):
            types[name.lower()] = LongType()
        elif isinstance(value, exp.Column) and value.name.lower() in relation.types:
            types[name.lower()] = relation.types[value.name.lower()]
        elif isinstance(value, exp.Sum) and (type_ := type_of_sum(value.this, relation.types)) is not None:
            types[name.lower()] = type_
    return types


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
    analysis: Analysis,
    node: exp.Select,
    source: Source,
    groups: list[exp.Expr],
    accumulators: list[Accumulator],
    *,
    returns_old: bool,
) -> exp.Expr:
    """Return a read of the accumulators that a stage before the query keeps; its input is what the query groups."""
    columns = [f"{spark_sql(group)} AS __group{number}" for number, group in enumerate(groups)]
    columns += [f"{accumulator.argument} AS __value{number}" for number, accumulator in enumerate(accumulators)]
    columns.append(f"{row_sign(source, source.relation)} AS __sign")
    stage = StateStage(
        f"millrace_state_{len(analysis.stages)}_{id(node):x}",
        _emptied(node, columns),
        len(groups),
        tuple(accumulators),
        returns_old=returns_old,
    )
    analysis.add_stage(stage)
    return parse_expression(f"SELECT * FROM {quoted(stage.view_name)}")  # noqa: S608 - a generated name


def _emptied(node: exp.Select, columns: list[str]) -> exp.Select:
    """Return a copy of a query's FROM and WHERE that selects other columns."""
    inner = node.copy()
    for name in ("group", "having", "distinct", "with_", "limit"):
        inner.set(name, None)
    inner.set("expressions", parse_expression(f"SELECT {', '.join(columns)}").expressions)
    return inner


def _write_outer(node: exp.Select, inner: exp.Expr, items: list[tuple[str, str]], kind: str, where: str) -> None:
    """Make a query one over the rows of its changed groups, which computes the result and the kind of change."""
    columns = [f"{item} AS {quoted(name)}" for item, name in items]
    columns += [f"{kind} AS {ROW_KIND_COLUMN}"] if kind else []
    selected = f"SELECT {', '.join(columns)} FROM (SELECT 1) AS __groups"  # noqa: S608 - of the parsed query
    outer = parse_expression(f"{selected} WHERE {where}" if where else selected)
    outer.args["from_"].this.set("this", inner)
    for name in ("group", "having", "distinct", "joins", "laterals", "where", "hint"):
        node.set(name, None)
    for name in ("expressions", "from_", "where"):
        node.set(name, outer.args.get(name))
