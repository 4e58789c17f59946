"""The parts of a job's plan as lines of text, for people."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from millrace.plans.parts import (
    PlannedColumn,
    PlannedCreation,
    PlannedOption,
    PlannedPermission,
    PlannedRead,
    PlannedWrite,
    TimeSpan,
)
from millrace.wording import counted

_SHOWN_RANGES = 50
_ALLOWED = {True: "allowed", False: "NOT ALLOWED", None: "not looked up"}


def section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines under a title; none without lines."""
    listed = list(lines)
    if listed:
        yield f"{title}:"
        yield from (f"  {line}" for line in listed)
        yield ""


def read_lines(read: PlannedRead) -> Iterator[str]:
    """Yield the lines of a read."""
    what = "a batch" if read.mode == "batch" else "the next micro-batch"
    yield f"Read of {read.name}: {what}, {counted(read.tasks, 'task')}"
    if read.start:
        yield f"  begins {read.start}"
    if read.filters:
        yield f"  reads offsets by the filters {read.filters}"
    if read.messages is not None:
        yield f"  messages: {read.messages}"
    if read.rows is not None:
        yield f"  rows: {read.rows}"
    if read.span is not None:
        yield f"  timestamps: {_span(read.span)}"
    for range_ in read.ranges[:_SHOWN_RANGES]:
        remaining = f", {range_.remaining:,} more for later micro-batches" if range_.remaining else ""
        yield f"  {range_}: {range_.end - range_.start:,} offsets{remaining}"
    if len(read.ranges) > _SHOWN_RANGES:
        yield f"  and {len(read.ranges) - _SHOWN_RANGES} more partitions (--json shows all)"
    yield ""
    yield from section("Columns", map(_column_line, read.columns))


def _span(span: TimeSpan) -> str:
    first, last = (
        datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).isoformat(sep=" ", timespec="milliseconds")
        for ms in (span.first_ms, span.last_ms)
    )
    return f"{first} to {last}{'' if span.is_exact else ', by the first and the last message of each partition'}"


def _column_line(column: PlannedColumn) -> str:
    difference = f"   <- {column.difference}" if column.difference else ""
    return f"{column.name} {column.declared or column.found}{difference}"


def write_lines(write: PlannedWrite) -> Iterator[str]:
    """Yield the lines of a write."""
    state = {True: "there already", False: "not there", None: "not looked up"}[write.exists]
    yield f"Write to {write.name}: {write.guarantee}, {state}"
    yield from (f"  transactional id {transactional_id}" for transactional_id in write.transactional_ids)
    yield ""


def creation_line(creation: PlannedCreation) -> str:
    """Return the line of a thing that would be created."""
    return f"{creation.kind} {creation.name}{f', {creation.detail}' if creation.detail else ''}"


def permission_line(permission: PlannedPermission) -> str:
    """Return the line of an operation that a run needs."""
    name = f"{permission.name}*" if permission.is_prefix else permission.name
    return f"{permission.operation} on {permission.resource} {name}: {_ALLOWED[permission.is_allowed]}"


def option_lines(options: Iterable[PlannedOption]) -> Iterator[str]:
    """Yield the lines of options that have not their default."""
    for option in options:
        if option.origin != "default":
            detail = f": {option.detail}" if option.detail else ""
            yield f"{option.name} = {option.value} ({option.origin}{detail})"
