"""Options of tables of connector datagen: those of the table, and those of each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Gt, Interval

from millrace.options import option
from millrace.options.parser import OptionParser
from millrace.options.values import parse_duration_ms

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from millrace.contracts import TableDescription


@dataclass(frozen=True)
class DatagenOptions:
    """Options of a table of generated rows."""

    rows_per_second: Annotated[int, Gt(0)] = option(
        "rows-per-second", default=10_000, doc="The number of rows that a stream generates per second."
    )
    number_of_rows: Annotated[int, Ge(0)] | None = option(
        "number-of-rows",
        default=None,
        doc="The total number of rows. By default it is unlimited, unless a field is a sequence. Required in a batch "
        "without one.",
    )
    parallelism: Annotated[int, Gt(0)] | None = option(
        "scan.parallelism", default=None, doc="The number of tasks that generate rows. The default is one."
    )


@dataclass(frozen=True)
class FieldOptions:
    """Options of a field."""

    kind: Literal["random", "sequence"] = option(
        "kind", default="random", doc="random, or sequence: the integers from start to end, in order."
    )
    smallest: float | None = option(
        "min", default=None, doc="The minimum of a random number. The default is the minimum of its type."
    )
    largest: float | None = option(
        "max", default=None, doc="The maximum of a random number. The default is the maximum of its type."
    )
    max_past_ms: Annotated[int, Ge(0)] = option(
        "max-past",
        default=0,
        parse=parse_duration_ms,
        doc="The maximum age of a random TIMESTAMP or TIMESTAMP_LTZ. By default it is the time of the query.",
    )
    length: Annotated[int, Ge(0)] | None = option(
        "length",
        default=None,
        doc="The length of random strings and bytes (default 100), and of ARRAY and MAP (default 3).",
    )
    has_any_length: bool = option(
        "var-len", default=False, doc="Whether the length of strings and bytes varies between 1 and length."
    )
    start: int | None = option("start", default=None, doc="The first number of a sequence.")
    end: int | None = option("end", default=None, doc="The last number of a sequence; the table ends with it.")
    null_rate: Annotated[float, Interval(ge=0, le=1)] = option(
        "null-rate", default=0.0, doc="The proportion of random values that are NULL, from 0 to 1."
    )


def parse_datagen_options(table: TableDescription) -> tuple[DatagenOptions, Mapping[str, FieldOptions]]:
    """Return the options of a table, and those of each of its fields, by their paths such as ``order.id``.

    Raises:
        OptionsError: Options are invalid; the message lists all problems.
    """
    parser = OptionParser(f"table {table.name!r}", table.options)
    options = parser.take(DatagenOptions) or DatagenOptions()
    fields = {}
    for column in table.physical_columns:
        for path in _paths(column.name, column.type):
            fields[path] = field = parser.take(FieldOptions, f"fields.{path}.") or FieldOptions()
            for problem in _problems(path, field):
                parser.report(problem)
    parser.finish()
    return options, fields


def _problems(path: str, field: FieldOptions) -> list[str]:
    prefix = f"fields.{path}."
    if field.kind == "random":
        bounds = {"start": field.start, "end": field.end}
        problems = [
            f"option '{prefix}{name}' requires '{prefix}kind' = 'sequence'"
            for name, bound in bounds.items()
            if bound is not None
        ]
        if field.smallest is not None and field.largest is not None and field.smallest > field.largest:
            problems.append(f"option '{prefix}min': {field.smallest:g} is above '{prefix}max', {field.largest:g}")
        return problems
    if field.start is None or field.end is None:
        return [f"options '{prefix}start' and '{prefix}end' are required with '{prefix}kind' = 'sequence'"]
    if field.start > field.end:
        return [f"option '{prefix}start': {field.start} is above '{prefix}end', {field.end}"]
    return []


def _paths(path: str, type_: DataType) -> list[str]:
    from pyspark.sql import types as sql

    nested = {}
    if isinstance(type_, sql.StructType):
        nested = {field.name: field.dataType for field in type_}
    elif isinstance(type_, sql.ArrayType):
        nested = {"element": type_.elementType}
    elif isinstance(type_, sql.MapType):
        nested = {"key": type_.keyType, "value": type_.valueType}
    return [path, *(inner_path for name, part in nested.items() for inner_path in _paths(f"{path}.{name}", part))]
