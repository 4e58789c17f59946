"""Comparison of what Flink CDC and a pipeline make of the same expressions, and the kinds of their differences.

Each kind is a row of "Differences from Flink CDC" in docs/pipelines.md, with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from millrace_catalog.types import DataType
from support.golden_runs import RunPart, SpecRun, filter_part
from support.golden_specs import GoldenSpec, computed
from support.golden_values import comparable

PAGE = Path(__file__).parents[2] / "docs" / "pipelines.md"
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
        """Equality: both have the same values, or both fail."""
        if self.spec.error is not None:
            return self.failed is not None or self.refused is not None
        return self.refused is None and self.failed is None and self.expected == self.found

    @property
    def other_types(self) -> tuple[str, str] | None:
        """The names of the types there and here; None where they are the same, whatever their lengths."""
        if self.types is None:
            return None
        there, here = (_type_name(type_) for type_ in self.types)
        return None if there == here else (there, here)

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
            # A filter has the changes of any item that has run with it
            item = next(iter(run.parts.values()), None) if part in condition else run.parts[part]
            if item is not None:
                yield _compared(spec, part, item, part in condition)


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


def _type_name(type_: DataType) -> str:
    name = re.sub(r"\([\d, ]+\)| NOT NULL", "", str(type_))
    return re.sub(r"\b(VAR)?CHAR\b", "STRING", re.sub(r"\b(VAR)?BINARY\b", "BYTES", name))


def item_name(item: str) -> str:
    """Return the name of the column of an item."""
    found = re.search(r"\bAS\s+`?(\w+)`?$", item, re.IGNORECASE)
    return found[1] if found else item


def documented_kinds() -> dict[str, str]:
    """Return the kinds of the page, with their reasons."""
    _, _, section = PAGE.read_text("utf-8").partition("### Differences from Flink CDC")
    section, _, _ = section.partition("\n#")
    rows = (re.split(r"(?<!\\) \| ", line.strip("| ")) for line in section.splitlines() if line.startswith("| "))
    return {row[0]: row[-1] for row in rows if row[0] != "expression"}


def _pairs(comparison: Comparison) -> list[tuple[Any, Any]]:
    """Return the values that differ, those of Flink CDC first."""
    return [pair for pair in zip(comparison.expected, comparison.found, strict=False) if pair[0] != pair[1]]


def _all(is_pair: Callable[[Any, Any], bool], words: str = "") -> Callable[[Comparison], bool]:
    """Return whether all pairs of values that differ are of a kind, in an expression with some word."""

    def is_kind(comparison: Comparison) -> bool:
        pairs = _pairs(comparison)
        has_word = re.search(words, comparison.part) is not None
        return has_word and bool(pairs) and all(is_pair(*pair) for pair in pairs)

    return is_kind


def _fails(classes: str, words: str = "") -> Callable[[Comparison], bool]:
    """Return whether an expression with some word ends the pipeline by an error of Spark."""
    return lambda comparison: (
        re.search(words, comparison.part) is not None and re.search(classes, comparison.failed or "") is not None
    )


def _any_of(*kinds: Callable[[Comparison], bool]) -> Callable[[Comparison], bool]:
    return lambda comparison: any(is_kind(comparison) for is_kind in kinds)


def _is_cut(expected: Any, found: Any, digits: int) -> bool:
    """Return whether one of two times is the other with so many digits of its fraction."""
    texts = [value for value in (expected, found) if isinstance(value, str) and "." in value]
    if not texts:
        return False
    whole, _, fraction = max(texts, key=len).partition(".")
    cut = fraction[:digits].rstrip("0")
    return min(expected, found, key=len) == (f"{whole}.{cut}" if cut else whole)


def _in_other_zone(comparison: Comparison) -> bool:
    return (
        comparison.spec.zone != "UTC"
        and bool(_pairs(comparison))
        and re.search("_ltz_|TO_TIMESTAMP_LTZ|_tz_", comparison.part) is not None
        and all(isinstance(value, str) for pair in _pairs(comparison) for value in pair)
    )


_CAST = r"CAST_INVALID_INPUT|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE"

KINDS: dict[str, Callable[[Comparison], bool]] = {
    "`a <> b`, `NOT (a = b)`, `a NOT IN (...)`, `a NOT BETWEEN ...` with NULL": _all(
        lambda expected, found: expected is True and found is None
    ),
    "other comparisons with NULL": _all(lambda expected, found: expected is False and found is None),
    "`a LIKE 'pattern'`": _all(lambda _, found: isinstance(found, bool), "LIKE"),
    r"NULL in `\|\|` and CONCAT": _all(lambda _, found: found is None, r"\|\||CONCAT"),
    "CAST of a text that is not a boolean": _fails(_CAST, "AS BOOLEAN"),
    "CAST of a text that is not a number, or of a number that does not fit": _fails(_CAST, "CAST"),
    "DECIMALs of more than 19 digits": lambda comparison: (
        comparison.spec.digits == "up_to_19"
        and _all(lambda expected, found: expected is None and isinstance(found, Decimal))(comparison)
    ),
    "a TIMESTAMP with its own time zone": _all(lambda expected, _: isinstance(expected, str), "_tz_"),
    "CAST of a TIMESTAMP to STRING": _all(
        lambda expected, found: isinstance(expected, str) and found == expected.replace("T", " ")[:26], "AS VARCHAR"
    ),
    "seconds of TIMESTAMPDIFF, times of `CURRENT_TIMESTAMP`": _all(
        lambda expected, found: _is_cut(expected, found, 3), "TIMESTAMP_?(DIFF|ADD)"
    ),
    "times with more than six fractional digits": _any_of(
        _all(lambda expected, found: _is_cut(expected, found, 6)),
        _all(lambda expected, found: found == f"{str(expected)[:-3]}000", "S{9}"),
    ),
    "TO_TIMESTAMP_LTZ of a text": lambda comparison: (
        comparison.spec.zone != "UTC" and "TO_TIMESTAMP_LTZ('" in comparison.part
    ),
    "a TIME plus an interval beyond midnight": _fails("DATETIME_OVERFLOW", "time_.*INTERVAL"),
    "CHAR_LENGTH of NULL": _all(lambda expected, found: expected == 0 and found is None, "CHAR_LENGTH"),
    "SUBSTRING with a negative length": lambda comparison: (
        comparison.spec.error is not None and "SUBSTRING" in comparison.part
    ),
    "TO_DATE of a text with a time": _all(
        lambda expected, found: expected is None and isinstance(found, str), "^TO_DATE"
    ),
    "SIMILAR TO and ESCAPE with NULL": lambda comparison: (
        comparison.refused is not None and re.search("(TO|ESCAPE) CAST.NULL", comparison.part) is not None
    ),
    "TO_DATE, TIMESTAMPADD and months of TIMESTAMP_LTZ": _in_other_zone,
    "`PARSE_JSON(x, TRUE)`": lambda comparison: "PARSE_JSON" in comparison.part and ", TRUE)" in comparison.part,
}
"""The kinds of differences, by their first words on the page; the first one that fits counts."""
