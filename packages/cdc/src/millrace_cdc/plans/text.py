"""A plan as text, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator

from millrace.wording import counted
from millrace_cdc.plans.model import PipelinePlan, PlannedStart, PlannedTable, PlannedTarget


def render_plan(plan: PipelinePlan) -> str:
    """Return a plan as text of several lines."""
    return "\n".join(_lines(plan))


def _lines(plan: PipelinePlan) -> Iterator[str]:
    title = f"{plan.source} to {plan.sink}, {plan.guarantee}"
    yield title if plan.name is None else f"{plan.name}: {title}"
    yield from _start_lines(plan.start)
    yield from _section("Tables of the source", [line for table in plan.tables for line in _table_lines(table)])
    yield from _section("Tables of the sink", [line for target in plan.targets for line in _target_lines(target)])
    rules = [f"{rule.kind} {rule.number} ({rule.pattern}): {', '.join(rule.tables) or 'none'}" for rule in plan.rules]
    yield from _section("Rules and their tables", rules)
    width = max((len(change.type) for change in plan.schema_changes), default=0)
    changes = [f"{change.type:{width}}  {change.outcome}" for change in plan.schema_changes]
    yield from _section("Schema changes", changes)
    yield from _section("Notes", list(plan.notes))
    yield from _section("Problems", [str(problem) for problem in plan.problems])


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _start_lines(start: PlannedStart | None) -> Iterator[str]:
    if start is None:
        yield "A run starts from scratch: there is no checkpoint"
        return
    done = (
        "no micro-batch is complete" if start.batch is None else f"micro-batch {start.batch} was the last complete one"
    )
    repeated = ", and the next one is repeated" if start.repeats else ""
    yield f"A run continues from the checkpoint {start.location}: {done}{repeated}"
    for topic, offsets in start.offsets.items():
        yield f"  {topic}: {json.dumps(offsets)}"


def _table_lines(table: PlannedTable) -> Iterator[str]:
    sampled = counted(table.changes, "change")
    yield f"{table.id}: {sampled} sampled{_key(table.primary_key)}, goes to {', '.join(table.targets) or 'no table'}"
    names = max((len(column.name) for column in table.columns), default=0)
    types = max((len(column.type) for column in table.columns), default=0)
    for column in table.columns:
        yield f"  {column.name:{names}}  {column.type:{types}}  by {column.evidence}"


def _target_lines(target: PlannedTarget) -> Iterator[str]:
    destination = target.destination
    states = {True: "there already", False: "to be created", None: "not looked up"}
    parts = f", partitioned by {', '.join(target.partition_keys)}" if target.partition_keys else ""
    name = f"{destination.kind} {destination.name}, {states[destination.exists]}"
    yield f"{target.id}: {name}{_key(target.primary_key)}{parts}"
    yield from (f"  {statement}" for statement in target.schema_changes)


def _key(columns: tuple[str, ...]) -> str:
    return f", primary key ({', '.join(columns)})" if columns else ", no primary key"
