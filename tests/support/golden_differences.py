"""Comparison of what Flink CDC and a pipeline make of the same expressions, and the kinds of their differences.

Each kind stands in docs/pipelines-flink-cdc.md, with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millrace_catalog.types import DataType
from support.golden_runs import RunPart, SpecRun, filter_part
from support.golden_specs import GoldenSpec, computed
from support.golden_values import comparable

PAGE = Path(__file__).parents[2] / "docs" / "pipelines-flink-cdc.md"
"""The page with the table of kinds."""


@dataclass(frozen=True)
class Comparison:
    """An expression of a spec, and what has become of it.

    Attributes:
        spec: The spec.
        part: An item of its projection, or its filter.
        expected: The values that Flink CDC prints, in order; empty where it fails.
        found: Those of the pipeline; empty where it refuses the expression, or fails.
        types: The types of the column there and here; None where one of them fails.
        refused: The reason why it is refused; None where it is not.
        failed: The error that it ends the pipeline with; None where it does not.
    """

    spec: GoldenSpec
    part: str
    expected: tuple[Any, ...] = ()
    found: tuple[Any, ...] = ()
    types: tuple[DataType, DataType] | None = None
    refused: str | None = None
    failed: str | None = None

    @property
    def is_equal(self) -> bool:
        """Whether both have the same values, or both fail."""
        if self.spec.error is not None:
            return self.failed is not None or self.refused is not None
        return self.refused is None and self.failed is None and self.expected == self.found

    @property
    def kind(self) -> str | None:
        """The first of the known kinds that the difference is of; None for an unknown one."""
        return next((name for name, is_kind in KINDS.items() if is_kind(self)), None)

    def __str__(self) -> str:
        there = self.spec.error or ", ".join(map(str, self.expected))
        here = self.refused or self.failed or ", ".join(map(str, self.found))
        return f"{self.spec.name}: {self.part}\n    there: {there}\n    here:  {here}"


def compare(spec: GoldenSpec, run: SpecRun) -> Iterator[Comparison]:
    """Yield the comparisons of the computed items of a spec, and of its filter.

    Specs of which Flink CDC does not say what they print yield what is refused of them only.
    """
    condition = [filter_part(spec.filter)] if spec.filter else []
    for part in (*computed(spec.items), *condition):
        if part in run.refused or part in run.failed:
            yield Comparison(spec, part, refused=run.refused.get(part), failed=run.failed.get(part))
        elif spec.error is not None:
            yield Comparison(spec, part, found=("no error",))
        elif spec.changes:
            yield _compared(spec, part, run.parts[spec.items[0] if part in condition else part], part in condition)


def _compared(spec: GoldenSpec, part: str, run: RunPart, is_filter: bool) -> Comparison:
    operations = tuple(tuple(each.operation for each in changes) for changes in (spec.changes, run.changes))
    if is_filter or operations[0] != operations[1]:
        return Comparison(spec, part, *operations)
    name = item_name(part)
    types = spec.columns.types[name], run.columns.types[name]
    expected, found = (
        tuple(comparable(type_, row[name]) for each in changes for row in (each.before, each.after) if row is not None)
        for type_, changes in zip(types, (spec.changes, run.changes), strict=True)
    )
    return Comparison(spec, part, expected, found, types)


def item_name(item: str) -> str:
    """Return the name of the column of an item."""
    found = re.search(r"\bAS\s+`?(\w+)`?$", item, re.IGNORECASE)
    return found[1] if found else item


def documented_kinds() -> dict[str, str]:
    """Return the kinds of the page, with their reasons."""
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return dict(rows)


KINDS: dict[str, Callable[[Comparison], bool]] = {}
"""The kinds of differences, by their names on the page."""
