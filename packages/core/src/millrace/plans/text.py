"""The plan of a job as text, for people."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from millrace.wording import counted

if TYPE_CHECKING:
    from millrace.plans.model import JobPlan, PlannedColumn, PlannedPermission, PlannedRead, TimeSpan

_SHOWN_RANGES = 50
_ALLOWED = {True: "allowed", False: "NOT ALLOWED", None: "not looked up"}


def render_job(plan: JobPlan) -> str:
    """Return a plan as text of several lines."""
    return "\n".join(_lines(plan)).strip("\n")


def _lines(plan: JobPlan) -> Iterator[str]:
    for read in plan.reads:
        yield from _read_lines(read)
    for write in plan.writes:
        state = {True: "there already", False: "not there", None: "not looked up"}[write.exists]
        yield f"Write to {write.name}: {write.guarantee}, {state}"
        yield from (f"  transactional id {each}" for each in write.transactional_ids)
        yield ""
    created = (f"{each.kind} {each.name}{f', {each.detail}' if each.detail else ''}" for each in plan.creates)
    yield from _section("Would be created", created)
    yield from _section("Permissions needed", map(_permission_line, plan.permissions))
    yield from _section("Options that are not the default", _option_lines(plan))
    yield from _section("Notes", plan.notes)
    yield from _section("Problems", plan.problems)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield f"{title}:"
        yield from (f"  {line}" for line in listed)
        yield ""


def _read_lines(read: PlannedRead) -> Iterator[str]:
    what = "a batch" if read.mode == "batch" else "the next micro-batch"
    yield f"Read of {read.name}: {what}, {counted(read.tasks, 'task')}"
    if read.start:
        yield f"  begins {read.start}"
    if read.messages is not None:
        yield f"  messages: {read.messages}"
    if read.rows is not None:
        yield f"  rows: {read.rows}"
    if read.span is not None:
        yield f"  timestamps: {_span(read.span)}"
    for each in read.ranges[:_SHOWN_RANGES]:
        remaining = f", {each.remaining:,} more for later micro-batches" if each.remaining else ""
        yield f"  {each}: {each.end - each.start:,} offsets{remaining}"
    if len(read.ranges) > _SHOWN_RANGES:
        yield f"  and {len(read.ranges) - _SHOWN_RANGES} more partitions (--json shows all)"
    yield ""
    yield from _section("Columns", map(_column_line, read.columns))


def _span(span: TimeSpan) -> str:
    first, last = (
        datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).isoformat(sep=" ", timespec="milliseconds")
        for ms in (span.first_ms, span.last_ms)
    )
    return f"{first} to {last}{'' if span.is_exact else ', by the first and the last message of each partition'}"


def _column_line(column: PlannedColumn) -> str:
    difference = f"   <- {column.difference}" if column.difference else ""
    return f"{column.name} {column.declared or column.found}{difference}"


def _permission_line(permission: PlannedPermission) -> str:
    name = f"{permission.name}*" if permission.is_prefix else permission.name
    return f"{permission.operation} on {permission.resource} {name}: {_ALLOWED[permission.is_allowed]}"


def _option_lines(plan: JobPlan) -> Iterator[str]:
    for each in plan.options:
        if each.origin != "default":
            detail = f": {each.detail}" if each.detail else ""
            yield f"{each.name} = {each.value} ({each.origin}{detail})"
