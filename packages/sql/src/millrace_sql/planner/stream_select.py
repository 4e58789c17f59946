"""SELECT over streams: pass changes on, filter them, or hand them to an aggregation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode
from millrace_sql.planner.aggregation import plan_aggregation
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.grouping import aggregates_of
from millrace_sql.planner.joined_rows import join_changes
from millrace_sql.planner.lateral_columns import columns_of_laterals, with_laterals
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.ranked_rows import keep_first_numbers
from millrace_sql.planner.ranking import ranking_of
from millrace_sql.planner.relations import (
    INSERT_ONLY,
    Relation,
    Source,
    calls_of,
    output_name,
    parse_expression,
    quoted,
    spark_sql,
)
from millrace_sql.planner.stars import name_columns
from millrace_sql.planner.steps import Step
from millrace_sql.planner.stream_joins import join_sources, keep_order
from millrace_sql.planner.volatile import selected_columns, volatile_function

_GENERATORS = {"EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK"}


def plan_stream_select(
    analysis: Analysis, text: QueryText, node: exp.Select, sources: tuple[Source, ...], nested: tuple[Relation, ...]
) -> Relation:
    """Return the relation of a SELECT of a stream, rewriting its tree where rows change.

    Raises:
        SqlError: Spark cannot run it, or its result would not be exact.
    """
    sources = tuple(keep_first_numbers(analysis, text, node, source, plan_stream_select) for source in sources)
    sources = join_changes(analysis, text, node, sources)
    relation = with_laterals(join_sources(analysis, text, sources), node)
    if relation.is_static and not any(not query.is_static for query in nested):
        step = Step("Calc", _details(node), INSERT_ONLY, (relation.step,))
        now = selected_columns(node, relation).processing_time
        return Relation(step, _columns(node, relation), is_static=True, types=relation.types, processing_time=now)
    if (ranking := ranking_of(text, node, sources, nested)) is not None:
        analysis.rankings.append(ranking)
        return Relation(relation.step, _columns(node, relation), ranking=ranking)
    _check(text, node, relation, nested)
    if _is_grouped(node):
        return plan_aggregation(analysis, text, node, relation, sources)
    columns = _columns(node, relation)
    output_names = _kept_columns(node, relation, sources)
    key = tuple(output_names[name] for name in relation.key if name in output_names)
    names = [name.lower() for name in columns or ()]
    if len(key) < len(relation.key) or any(names.count(name) > 1 for name in key):
        key = ()  # it is left out, or another column has its name
    lost_key = relation.lost_key if key or not relation.key else relation.key
    key = () if _makes_rows(node) else key
    has_one_row = relation.has_one_row and not _makes_rows(node)
    volatile = selected_columns(node, relation)
    mode, details, is_needed = relation.mode, _details(node), _does_something(node)
    if relation.is_changelog:
        analysis.is_rewritten = True
        mode = _pass_changes_on(analysis, text, node, relation, sources, key, has_one_row=has_one_row)
    step = Step("Calc", details, mode, (relation.step,)) if is_needed else relation.step
    return Relation(
        step,
        columns,
        {output_names[name]: type_ for name, type_ in relation.types.items() if name in output_names},
        frozenset(output_names[name] for name in relation.event_time if name in output_names),
        key,
        relation.scans,
        states=relation.states,
        lost_key=lost_key,
        has_one_row=has_one_row,
        is_static=relation.is_static,
        origin=relation.origin,
        volatile=volatile.functions,
        processing_time=volatile.processing_time,
    )


def _is_grouped(node: exp.Select) -> bool:
    return any(node.args.get(name) for name in ("group", "distinct", "having")) or bool(aggregates_of(node))


def _check(text: QueryText, node: exp.Select, relation: Relation, nested: tuple[Relation, ...]) -> None:

    for query in nested:
        if query.is_changelog:
            message = (
                f"a query within an expression cannot read the changes of {query.origin}: write a JOIN with the table"
            )
            raise text.error(message, node.args.get("where"))
    if nested and relation.is_changelog and not _is_grouped(node):
        message = (
            f"a query within an expression over the changes of {relation.origin} could mix the changes of a key: "
            "write LEFT SEMI JOIN for IN and EXISTS, LEFT ANTI JOIN for NOT IN and NOT EXISTS"
        )
        raise text.error(message, node.args.get("where"))
    if relation.is_changelog and any(table.args.get("sample") for table in node.find_all(exp.Table)):
        raise text.error("a sample of changes could hold a row and not its deletion: leave out TABLESAMPLE", node)
    if node.args.get("order") or node.args.get("sort"):
        raise text.error(
            "a stream cannot be sorted: leave out ORDER BY, or run the query as a batch", node.args.get("order")
        )
    if node.args.get("limit") and relation.is_changelog:
        raise text.error("LIMIT cannot be kept up to date while rows change: run the query as a batch", node)
    _check_windows(text, node, relation)


def _check_windows(text: QueryText, node: exp.Select, relation: Relation) -> None:
    """Refuse OVER, which Spark has in batches only."""
    window = next((window for window in node.find_all(exp.Window) if window.find_ancestor(exp.Select) is node), None)
    if window is None:
        return
    shown = spark_sql(window)
    if relation.is_changelog:
        message = f"{shown} over rows that change would have to be computed again for each change: "
        raise text.error(message + "use GROUP BY with MIN or MAX, or run the query as a batch", window)
    advice = (
        "group by a window instead, as in FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), slide, size)) "
        "GROUP BY window_start, window_end, or run the query as a batch: SET 'execution.runtime-mode' = 'batch'"
    )
    raise text.error(f"{shown}: OVER would need the rows of a stream in their order: {advice}", window)


def _pass_changes_on(
    analysis: Analysis,
    text: QueryText,
    node: exp.Select,
    relation: Relation,
    sources: tuple[Source, ...],
    key: tuple[str, ...],
    *,
    has_one_row: bool,
) -> ChangelogMode:
    """Add the column of row kinds to a query, and return the kinds that come out of it."""
    source = next(source for source in sources if source.relation.is_changelog)
    row_kind = f"{quoted(source.alias)}.{ROW_KIND_COLUMN}" if source.alias else ROW_KIND_COLUMN
    name_columns(text, node, sources)
    _hide_row_kind(node, source)
    where = node.args.get("where")
    mode = relation.mode
    result = replace(relation, volatile=selected_columns(node, relation).functions)
    if where is not None:
        _check_deterministic(text, where.this, relation)
    if not (key or has_one_row):
        analysis.ask_for_old_rows(text, result)
    if where is not None and analysis.lacks_results(relation):
        # There is no old row to send on: a row that does not pass deletes the one of its key
        passes = f"COALESCE(({spark_sql(where.this)}), FALSE)"
        row_kind = f"CASE WHEN {passes} THEN {row_kind} ELSE '-D' END"
        node.set("where", None)
        mode = ChangelogMode(mode.row_kinds | {"-D"})
    elif where is not None and (len(sources) > 1 or not _filters_by_key(where.this, relation)):
        analysis.ask_for_old_rows(text, result)
    node.append("expressions", parse_expression(f"{row_kind} AS {ROW_KIND_COLUMN}"))
    keep_order(text, node, sources)
    return mode


def _hide_row_kind(node: exp.Select, changes: Source) -> None:
    """Take the column of row kinds out of ``*``, which the query gets as its last column."""
    for item in node.expressions:
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        if isinstance(star, exp.Star) and (item is star or item.table.lower() == changes.alias.lower()):
            star.set("except_", [*(star.args.get("except_") or []), exp.column(ROW_KIND_COLUMN)])


def _check_deterministic(text: QueryText, condition: exp.Expr, relation: Relation) -> None:
    if function := volatile_function(condition, relation.volatile):
        message = (
            f"a filter by {function} over {relation.origin} could keep a row and not its deletion: "
            "filter by columns of the row, or before the changes are written"
        )
        raise text.error(message, condition)


def _makes_rows(node: exp.Select) -> bool:
    """Return whether a query makes several rows of one, which the key does not tell apart."""
    return bool(node.args.get("laterals")) or any(calls_of(item) & _GENERATORS for item in node.expressions)


def _filters_by_key(condition: exp.Expr, relation: Relation) -> bool:
    """Return whether a row and the later ones of its key pass a filter alike."""
    return bool(relation.key) and {column.name.lower() for column in condition.find_all(exp.Column)} <= set(
        relation.key
    )


def _does_something(node: exp.Select) -> bool:

    is_star = len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Star)
    return not is_star or bool(node.args.get("where") or node.args.get("laterals"))


def _details(node: exp.Select) -> tuple[str, ...]:
    selected = f"select=[{', '.join(map(spark_sql, node.expressions))}]"
    where = node.args.get("where")
    return (selected,) if where is None else (selected, f"where=[{spark_sql(where.this)}]")


def _columns(node: exp.Select, relation: Relation) -> tuple[str, ...] | None:

    names: list[str] = []
    for item in node.expressions:
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            if relation.columns is None or star.args.get("rename") or (star is not item and node.args.get("joins")):
                return None
            hidden = {name.name.lower() for name in star.args.get("except_") or ()}
            names += (name for name in _starred(item, node, relation.columns) if name.lower() not in hidden)
        else:
            names.append(output_name(item))
    return tuple(names)


def _starred(item: exp.Expr, node: exp.Select, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that a star means: all, those of a lateral view, or those that no lateral view makes."""
    laterals = columns_of_laterals(node)
    if isinstance(item, exp.Star) or not laterals:
        return columns
    if item.table.lower() in laterals:
        return laterals[item.table.lower()]
    return columns[: len(columns) - sum(map(len, laterals.values()))]


def _kept_columns(node: exp.Select, relation: Relation, sources: tuple[Source, ...]) -> dict[str, str]:
    """Return the columns that a query hands on as they are: their names before and after, in lower case.

    Of a join it is those of the side that changes, which alone has a key.
    """
    changes = {source.alias.lower() for source in sources if source.relation.is_changelog}
    renames = list(_renames(node, relation, changes if len(sources) > 1 else None))
    # Of several names for a column, the first
    return dict(reversed(renames))


def _renames(node: exp.Select, relation: Relation, aliases: set[str] | None) -> Iterator[tuple[str, str]]:

    for item in node.expressions:
        column = item.this if isinstance(item, exp.Alias) else item
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            if star is not item and aliases is not None:
                continue
            hidden = {name.name.lower() for name in star.args.get("except_") or ()}
            hidden |= {alias.alias.lower() for alias in star.args.get("replace") or ()}
            yield from ((name.lower(), name.lower()) for name in relation.columns or () if name.lower() not in hidden)
        elif isinstance(column, exp.Column) and (aliases is None or column.table.lower() in aliases):
            yield column.name.lower(), item.alias_or_name.lower()
