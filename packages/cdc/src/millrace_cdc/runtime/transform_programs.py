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
        reads: For each of them, the columns that its value is made of.
        condition: The columns that its condition reads; None where rows need meet none.
    """

    columns: tuple[tuple[str, str | None], ...]
    soft_delete: bool
    reads: tuple[frozenset[str], ...] = ()
    condition: frozenset[str] | None = None


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
    calls = sorted(
        (call for transform in transforms for call in _leveled_calls(transform)), key=lambda call: call.level
    )
    reads = tuple(dict.fromkeys(name for name in _names_read(types, transforms, calls) if not is_call(name)))
    numbers = {name: number for number, name in enumerate((*reads, *(leveled.call.column for leveled in calls)))}

    def numbered(parts: Parts) -> Parts:
        return tuple(str(numbers[part]) if index % 2 else part for index, part in enumerate(parts))

    rules = []
    made = []
    for transform in transforms:
        parts = transform.condition_parts
        tested = None if parts is None else _columns_read(parts, transform)
        condition = None if parts is None else numbered(parts)
        copied = [column.copied_from if column.copied_from in types else None for column in transform.columns]
        results = [
            numbered(column.parts) for column, source in zip(transform.columns, copied, strict=True) if source is None
        ]
        rules.append(ProgramRule(condition, tuple(results)))
        names = (column.name for column in transform.columns)
        columns_read = tuple(_columns_read(column.parts, transform) for column in transform.columns)
        columns_made = tuple(zip(names, copied, strict=True))
        made.append(RuleColumns(columns_made, transform.soft_delete, columns_read, tested))
    read = [deeply_nullable(types.get(name, STRING)) for name in reads]
    results_of_calls = [leveled.call.function.result for leveled in calls]
    program_calls = tuple(
        ProgramCall(
            leveled.call.function,
            tuple(map(numbered, leveled.call.arguments)),
            None if leveled.condition is None else numbered(leveled.condition),
            leveled.level,
        )
        for leveled in calls
    )
    program = Program((*read, *results_of_calls), tuple(rules), program_calls)
    return TableProgram(program, reads, tuple(made), tuple(leveled.call.place for leveled in calls))


class _LeveledCall(NamedTuple):
    level: int
    call: BoundCall
    condition: Parts | None


def _leveled_calls(transform: BoundTransform) -> Iterator[_LeveledCall]:
    """Yield the calls of a transform: those of its condition for all rows, others for the rows that meet it."""
    calls = {call.column: call for call in transform.calls}
    inner = {
        name: [column for parts in call.arguments for column in parts[1::2] if is_call(column)]
        for name, call in calls.items()
    }
    needed = [name for name in (transform.condition_parts or ())[1::2] if is_call(name)]
    for name in needed:
        needed += inner[name]
    levels: dict[str, int] = {}
    # Inner calls come first
    for name in (*(call for call in calls if call in needed), *(call for call in calls if call not in needed)):
        is_first = name in needed
        before = [levels[column] for column in inner[name]]
        if not is_first:
            before += [levels[column] for column in needed]
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


def _columns_read(parts: Parts, transform: BoundTransform) -> frozenset[str]:
    """Return the columns that an expression is made of, through its calls."""
    calls = {call.column: call for call in transform.calls}
    names = [*parts[1::2]]
    for name in names:
        if name in calls:
            names += [column for argument in calls[name].arguments for column in argument[1::2]]
    return frozenset(names) - calls.keys()


def value_name(number: int | str) -> str:
    """Return the name of a value of a program, where values are columns."""
    return f"v{number}"


def named_sql(parts: Parts) -> str:
    """Return an expression over columns that are named by `value_name`."""
    return join_sql(parts, value_name)


def argument_name(number: int) -> str:
    """Return the name of an argument of a call, or of a call among those of a level."""
    return f"a{number}"
