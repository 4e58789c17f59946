"""Joins of streams: which of them Spark runs, which see a table's current rows, and which are refused."""

from __future__ import annotations

from sqlglot import exp

from millrace.contracts import ChangelogMode
from millrace_sql.planner.analysis import Analysis
from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import INSERT_ONLY, Relation, Source, spark_sql
from millrace_sql.planner.steps import Step
from millrace_sql.planner.volatile import volatile_function

_AS_BATCH = "run the query as a batch: SET 'execution.runtime-mode' = 'batch'"


def join_sources(analysis: Analysis, text: QueryText, sources: tuple[Source, ...]) -> Relation:
    """Return the relation of all sources of a query.

    Raises:
        SqlError: Their join would not be exact.
    """
    if not sources:
        return Relation(Step("Values", (), INSERT_ONLY), is_static=True)
    joined = sources[0].relation
    for source in sources[1:]:
        joined = _join(analysis, text, joined, source)
    return joined


def keep_order(text: QueryText, node: exp.Select, sources: tuple[Source, ...]) -> None:
    """Send tables that changes are joined with to all tasks: a shuffle would mix the changes of a key."""
    if any(isinstance(source.node, exp.Subquery) and not source.alias for source in sources) and len(sources) > 1:
        raise text.error("give the queries in FROM names, such as (SELECT ...) AS t", node)
    tables = [source.alias for source in sources if source.relation.is_static and source.alias]
    if len(sources) > 1 and tables:
        broadcast = exp.Anonymous(
            this="BROADCAST", expressions=[exp.to_identifier(name, quoted=True) for name in tables]
        )
        others = node.args["hint"].expressions if node.args.get("hint") else []
        node.set("hint", exp.Hint(expressions=[*others, broadcast]))


def _join(analysis: Analysis, text: QueryText, left: Relation, source: Source) -> Relation:
    join, right = source.join, source.relation
    assert join is not None  # noqa: S101 - all but the first source have one
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    _check(text, left, right, source, side)
    step_name = "LookupJoin" if "LookupTable" in {left.step.name, right.step.name} else "Join"
    mode = left.mode if left.is_changelog else right.mode
    if left.is_changelog or right.is_changelog:
        # A row that finds no partner, or another one than before, leaves the result
        analysis.asked |= left.scans | right.scans
        analysis.asked_states |= left.states | right.states
        _check_condition(text, join, left, right)
        mode = ChangelogMode(mode.row_kinds)
    step = Step(step_name, _details(join, side, kind), mode, (left.step, right.step))
    columns = None if left.columns is None or right.columns is None else (*left.columns, *right.columns)
    if kind in {"SEMI", "ANTI"}:
        columns = left.columns
    return Relation(
        step,
        columns,
        {**right.types, **left.types},
        left.event_time | right.event_time,
        _key(left, right, join),
        left.scans | right.scans,
        left.states | right.states,
        is_static=left.is_static and right.is_static,
        origin=left.origin or right.origin,
        volatile={**right.volatile, **left.volatile},
        processing_time=left.processing_time | right.processing_time,
    )


def _check_condition(text: QueryText, join: exp.Join, left: Relation, right: Relation) -> None:
    condition = join.args.get("on")
    if condition is not None and (function := volatile_function(condition, {**right.volatile, **left.volatile})):
        message = (
            f"{function} in the condition of a JOIN with the changes of {left.origin or right.origin} could join a row "
            "and not its deletion: join by columns of the rows"
        )
        raise text.error(message, condition)


def _check(text: QueryText, left: Relation, right: Relation, source: Source, side: str) -> None:
    if source.as_of is not None and left.is_changelog:
        message = "changes cannot be joined with rows as of the micro-batch, since a later change may find other ones"
        raise text.error(f"{message}: {_AS_BATCH}", source.node)
    has_changes = any(side.is_changelog or side.has_state for side in (left, right))
    if has_changes and not (left.is_static or right.is_static):
        message = (
            "a join of changes after a join with a table that is no stream: write the tables that change first in "
            f"FROM, and the others after them, or {_AS_BATCH}"
        )
        raise text.error(message, source.node)
    outer = {"LEFT": left, "RIGHT": right}.get(side)
    has_static = left.is_static != right.is_static
    if (side == "FULL" and has_static) or (outer is not None and outer.is_static and has_static):
        message = (
            f"a {side} JOIN keeps rows of the table that is no stream, which Spark cannot do before the stream ends: "
            "write an INNER JOIN, or keep the rows of the stream"
        )
        raise text.error(message, source.node)


def _details(join: exp.Join, side: str, kind: str) -> tuple[str, ...]:
    condition = join.args.get("on")
    using = join.args.get("using")
    where = f"where=[{spark_sql(condition)}]" if condition is not None else ""
    using_names = f"using=[{', '.join(spark_sql(name) for name in using)}]" if using else ""
    kind_name = " ".join(filter(None, (side, kind))) or "INNER"
    return tuple(filter(None, (f"joinType=[{kind_name}]", where, using_names)))


def _key(left: Relation, right: Relation, join: exp.Join) -> tuple[str, ...]:
    """Return the key of changes that a join with a table keeps: where the table has at most one partner for each."""
    changes, table = (left, right) if left.is_changelog else (right, left)
    if (join.kind or "").upper() in {"SEMI", "ANTI"}:
        return changes.key
    names = {name.name.lower() for name in join.args.get("using") or ()}
    condition = join.args.get("on")
    for equal in (
        condition.flatten() if isinstance(condition, exp.And) else [condition] if condition is not None else []
    ):
        if (
            isinstance(equal, exp.EQ)
            and isinstance(equal.this, exp.Column)
            and isinstance(equal.expression, exp.Column)
        ):
            names |= {equal.this.name.lower(), equal.expression.name.lower()}
    return changes.key if table.key and set(table.key) <= names else ()
