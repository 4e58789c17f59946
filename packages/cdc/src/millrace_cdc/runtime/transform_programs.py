"""Programs of transforms: what Spark computes of a row, without the names of its columns and without those it copies.

Tables whose rules compute the same of values of the same types have the same program, however many there are, so that
Spark checks and plans it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from millrace_catalog.expressions.parsing import join_sql
from millrace_catalog.types import STRING, DataType, Schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_cdc.transforms.transform import BoundTransform

Parts = tuple[str, ...]
"""An expression as `join_sql` takes it, with the numbers of the values that it reads as names."""


@dataclass(frozen=True)
class ProgramRule:
    """A rule of a program.

    Attributes:
        condition: The condition that rows must meet; None for all rows.
        results: The expressions that it computes.
    """

    condition: Parts | None
    results: tuple[Parts, ...]


@dataclass(frozen=True)
class Program:
    """Rules over values that have numbers.

    Attributes:
        types: The types of the values.
        rules: The rules; a row takes the first one whose condition it meets.
    """

    types: tuple[DataType, ...]
    rules: tuple[ProgramRule, ...]


@dataclass(frozen=True)
class RuleColumns:
    """The columns that a rule makes.

    Attributes:
        columns: Their names in order, each with the column that it is a copy of; None where it is the next result.
        soft_delete: Whether a deleted row becomes an inserted one.
    """

    columns: tuple[tuple[str, str | None], ...]
    soft_delete: bool


@dataclass(frozen=True)
class TableProgram:
    """The program of a table.

    Attributes:
        program: The program.
        reads: The columns and metadata columns whose values it reads, by their numbers.
        rules: The columns that each rule makes.
    """

    program: Program
    reads: tuple[str, ...]
    rules: tuple[RuleColumns, ...]


def table_program(columns: Schema, transforms: Sequence[BoundTransform]) -> TableProgram:
    """Return the program of a table.

    Args:
        columns: Its columns.
        transforms: Its transforms, in order.
    """
    types = columns.types
    numbers: dict[str, int] = {}

    def numbered(parts: Parts) -> Parts:
        return tuple(
            str(numbers.setdefault(part, len(numbers))) if index % 2 else part for index, part in enumerate(parts)
        )

    rules = []
    made = []
    for transform in transforms:
        condition = None if transform.condition_parts is None else numbered(transform.condition_parts)
        copied = [each.copied_from if each.copied_from in types else None for each in transform.columns]
        results = [
            numbered(each.parts) for each, source in zip(transform.columns, copied, strict=True) if source is None
        ]
        rules.append(ProgramRule(condition, tuple(results)))
        names = (each.name for each in transform.columns)
        made.append(RuleColumns(tuple(zip(names, copied, strict=True)), transform.soft_delete))
    read = tuple(deeply_nullable(types.get(name, STRING)) for name in numbers)
    return TableProgram(Program(read, tuple(rules)), tuple(numbers), tuple(made))


def value_name(number: int | str) -> str:
    """Return the name of a value of a program, where values are columns."""
    return f"v{number}"


def named_sql(parts: Parts) -> str:
    """Return an expression over columns that are named by `value_name`."""
    return join_sql(parts, value_name)
