"""Golden specs of Flink CDC's transforms, in the checkout of it that MILLRACE_FLINK_CDC names.

A spec is a projection or a filter over a table of all types, and the changes that Flink CDC prints for it. The table
and its rows come from the spec that prints all columns as they are. Tests that read specs are marked `flink_cdc`, and
are not collected where there is no checkout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from millrace_catalog.types import Column, Schema, parse_type
from millrace_cdc.definitions.rules import TransformRule
from support.cases import GOLDEN_SPECS
from support.golden_values import golden_value, split_list

_COLUMN = re.compile(r"`(?P<name>[^`]+)` (?P<type>.*?)(?: NOT NULL)?(?: '(?:[^']|'')*'){0,2}")
_CREATED = re.compile(r"CreateTableEvent\{tableId=(?P<table>[^,]+), schema=columns=\{(?P<columns>.*)\}, primaryKeys=.*")
_CHANGED = re.compile(
    r"DataChangeEvent\{tableId=[^,]+, before=\[(?P<before>.*)\], after=\[(?P<after>.*)\], "
    r"op=(?P<operation>INSERT|UPDATE|DELETE), meta=\(\)\}"
)
_OPERATIONS = {"INSERT": "c", "UPDATE": "u", "DELETE": "d"}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class GoldenChange:
    """A change: its operation as millrace names it, and the rows before and after it as values of JSON."""

    operation: str
    before: Row | None
    after: Row | None


@dataclass(frozen=True)
class GoldenSpec:
    """A spec.

    Attributes:
        name: Its file and its title.
        items: The items of its projection.
        filter: Its filter; None for all rows.
        zone: Its ``local-time-zone``.
        is_nullable: Whether it reads rows of NULLs, too.
        lines: The lines that Flink CDC prints; none where it fails, or where it is not known yet what it prints.
        error: The error that Flink CDC ends with; None where it does not.
        digits: The digits of its DECIMALs: ``up_to_19`` or ``up_to_38``.
        converter: Its ``converter-after-transform``.
    """

    name: str
    items: tuple[str, ...]
    filter: str | None
    zone: str
    is_nullable: bool
    lines: tuple[str, ...]
    error: str | None
    digits: str
    converter: str | None

    @classmethod
    def of(cls, file: Path, spec: Mapping[str, Any]) -> GoldenSpec:
        """Read a spec of a file."""
        return cls(
            f"{file.stem}: {spec['do']}",
            tuple(split_list(", ".join(spec["projection"].splitlines()), quotes="'`", separator=",")),
            None if spec.get("filter") is None else str(spec["filter"]),
            spec.get("time-zone", "UTC"),
            str(spec.get("non-null", "false")) != "true",
            tuple(spec.get("expect", "").splitlines()),
            spec.get("expect-error"),
            spec.get("decimal-precision-mode", "up_to_19"),
            spec.get("converters"),
        )

    @cached_property
    def table(self) -> str:
        """The id of the table whose changes it reads."""
        return self._created["table"]

    @cached_property
    def columns(self) -> Schema:
        """The columns of the table that Flink CDC makes."""
        texts = re.split(r",(?=`\w+` )", self._created["columns"])
        # Fields of a ROW have a blank before their names, so that they are not split
        found = (_matched(_COLUMN, text) for text in texts)
        return Schema(tuple(Column(each["name"], parse_type(each["type"])) for each in found))

    @cached_property
    def changes(self) -> tuple[GoldenChange, ...]:
        """The changes that Flink CDC prints."""
        return tuple(self._change(_matched(_CHANGED, line)) for line in self.lines[1:])

    def rule(self, items: tuple[str, ...], condition: str | None) -> TransformRule:
        """Return a rule of some of its items, with a condition."""
        return TransformRule(
            source_table=r"\.*.\.*.\.*", projection=", ".join(items), filter=condition, converter=self.converter
        )

    @property
    def _created(self) -> re.Match[str]:
        return _matched(_CREATED, self.lines[0])

    def _change(self, line: re.Match[str]) -> GoldenChange:
        before, after = (self._row(line[side]) for side in ("before", "after"))
        return GoldenChange(_OPERATIONS[line["operation"]], before, after)

    def _row(self, text: str) -> Row | None:
        if not text:
            return None
        values = split_list(text)
        if len(values) != len(self.columns):
            raise ValueError(f"{self.name}: expected {len(self.columns)} values, found {len(values)}: {text}")
        return {
            column.name: golden_value(column.type, value) for column, value in zip(self.columns, values, strict=True)
        }


def read_specs() -> tuple[GoldenSpec, ...]:
    """Read all specs of the checkout."""
    files = sorted(GOLDEN_SPECS.glob("*.yaml"))
    return tuple(GoldenSpec.of(file, spec) for file in files for spec in yaml.safe_load(file.read_text("utf-8")))


def copied_spec(specs: tuple[GoldenSpec, ...]) -> GoldenSpec:
    """Return the spec that prints all columns of the table as they are."""
    return next(spec for spec in specs if spec.items == ("*",) and spec.filter is None)


def computed(items: tuple[str, ...]) -> Iterator[str]:
    """Yield the items that are more than the name of a column."""
    yield from (item for item in items if not re.fullmatch(r"\*|\w+", item))


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(f"expected {pattern.pattern}, found {text!r}")
    return found
