"""Programs of transforms: what Spark computes of a row, without the names of its columns and without those it copies.

Tables whose rules compute the same of values of the same types have the same program, however many there are, so that
Spark checks and plans it once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from millrace_catalog.expressions.parsing import join_sql
from millrace_catalog.types import STRING, DataType, Schema
from millrace_catalog.types.widen import deeply_nullable
from millrace_cdc.functions.calls import is_call
from millrace_cdc.functions.user_function import UserFunction
from millrace_cdc.transforms.transform import BoundCall, BoundTransform

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
class ProgramCall:
    """A call of a user-defined function, whose result is a value of the program.

    Attributes:
        function: The function.
        arguments: The expressions of its arguments.
        condition: The condition of the rows that need it; None for all rows.
        level: The number of stages of calls that come before it.
    """

    function: UserFunction
    arguments: tuple[Parts, ...]
    condition: Parts | None
    level: int


@dataclass(frozen=True)
class Program:
    """Rules over values that have numbers.

    Attributes:
        types: The types of the values: those that it reads, and behind them the results of its calls.
        rules: The rules; a row takes the first one whose condition it meets.
        calls: The calls, by their levels.
    """

    types: tuple[DataType, ...]
    rules: tuple[ProgramRule, ...]
    calls: tuple[ProgramCall, ...] = ()

    @property
    def levels(self) -> frozenset[int]:
        """The levels of its calls, from 0."""
        return frozenset(call.level for call in self.calls)


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
        places: The rule and the text of each call, for errors.
    """

    program: Program
    reads: tuple[str, ...]
    rules: tuple[RuleColumns, ...]
    places: tuple[str, ...] = ()


def table_program(columns: Schema, transforms: Sequence[BoundTransform]) -> TableProgram:
    """Return the program of a table.

    Args:
        columns: Its columns.
        transforms: Its transforms, in order.
    """
    types = columns.types
    calls = sorted((call for each in transforms for call in _leveled_calls(each)), key=lambda call: call.level)
    reads = tuple(dict.fromkeys(name for name in _names_read(types, transforms, calls) if not is_call(name)))
    numbers = {name: number for number, name in enumerate((*reads, *(each.call.column for each in calls)))}

    def numbered(parts: Parts) -> Parts:
        return tuple(str(numbers[part]) if index % 2 else part for index, part in enumerate(parts))

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
    read = [deeply_nullable(types.get(name, STRING)) for name in reads]
    results_of_calls = [each.call.function.result for each in calls]
    program_calls = tuple(
        ProgramCall(
            each.call.function,
            tuple(map(numbered, each.call.arguments)),
            None if each.condition is None else numbered(each.condition),
            each.level,
        )
        for each in calls
    )
    program = Program((*read, *results_of_calls), tuple(rules), program_calls)
    return TableProgram(program, reads, tuple(made), tuple(each.call.place for each in calls))


class _LeveledCall(NamedTuple):
    level: int
    call: BoundCall
    condition: Parts | None


def _leveled_calls(transform: BoundTransform) -> Iterator[_LeveledCall]:
    """Yield the calls of a transform: those of its condition for all rows, others for the rows that meet it."""
    calls = {call.column: call for call in transform.calls}
    inner = {
        name: [each for parts in call.arguments for each in parts[1::2] if is_call(each)]
        for name, call in calls.items()
    }
    needed = [name for name in (transform.condition_parts or ())[1::2] if is_call(name)]
    for name in needed:
        needed += inner[name]
    levels: dict[str, int] = {}
    # Inner calls come first
    for name in (*(each for each in calls if each in needed), *(each for each in calls if each not in needed)):
        is_first = name in needed
        before = [levels[each] for each in inner[name]]
        if not is_first:
            before += [levels[each] for each in needed]
        levels[name] = 1 + max(before, default=-1)
        yield _LeveledCall(levels[name], calls[name], None if is_first else transform.condition_parts)


def _names_read(
    types: Mapping[str, DataType], transforms: Sequence[BoundTransform], calls: Sequence[_LeveledCall]
) -> Iterator[str]:
    for transform in transforms:
        yield from (transform.condition_parts or ())[1::2]
        for column in transform.columns:
            if column.copied_from not in types:
                yield from column.parts[1::2]
    for call in calls:
        for parts in call.call.arguments:
            yield from parts[1::2]


def value_name(number: int | str) -> str:
    """Return the name of a value of a program, where values are columns."""
    return f"v{number}"


def named_sql(parts: Parts) -> str:
    """Return an expression over columns that are named by `value_name`."""
    return join_sql(parts, value_name)


def argument_name(number: int) -> str:
    """Return the name of an argument of a call, or of a call among those of a level."""
    return f"a{number}"
