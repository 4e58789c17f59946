"""The columns of a read: those that are declared against those that the format or messages have."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from millrace.configuration import SourceConfig
from millrace.errors import MessageError, SchemaError
from millrace.options.column_list import OTHERS
from millrace.plans.parts import PlannedColumn
from millrace.spark.ddl import parse_ddl
from millrace.spark.schema import declared_schema, default_schema, distinct_columns

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_SYNONYMS = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint", "real": "float"}


@dataclasses.dataclass(frozen=True)
class ReadColumns:
    """The columns of a read.

    Attributes:
        schema: The schema; None where there is a problem.
        columns: The columns, with differences.
        problem: The reason why a run has no columns; empty where it has.
    """

    schema: StructType | None
    columns: tuple[PlannedColumn, ...]
    problem: str = ""


def read_columns(config: SourceConfig, schema: StructType | None) -> ReadColumns:
    """Determine the columns of a read, and compare.

    Args:
        config: How to read.
        schema: The schema that the user gives; None without one.
    """
    declared = _declared(config, schema)
    if schema is None and declared:
        schema = parse_ddl(declared_schema(config), "option 'columns'")
    undeclared = dataclasses.replace(config, options=dataclasses.replace(config.options, columns=()))
    try:
        actual = distinct_columns(default_schema(undeclared))
    except (SchemaError, MessageError) as error:
        if not declared:
            return ReadColumns(None, (), str(error))
        return ReadColumns(schema, tuple(PlannedColumn(name, type_, None) for name, type_ in declared.items()))
    types = {field.name: field.dataType.simpleString() for field in actual}
    if not declared:
        return ReadColumns(actual, tuple(PlannedColumn(name, None, type_) for name, type_ in types.items()))
    with_others = any(column.name == OTHERS for column in config.options.columns)
    columns = [_compared(name, type_, types.get(name)) for name, type_ in declared.items()]
    for name, type_ in types.items():
        if name not in declared:
            difference = "" if with_others else "it is there, and not declared: it is not read"
            columns.append(PlannedColumn(name, None, type_, difference))
    return ReadColumns(schema, tuple(columns))


def _declared(config: SourceConfig, schema: StructType | None) -> dict[str, str]:
    if schema is not None:
        return {field.name: field.dataType.simpleString() for field in schema}
    columns = (column for column in config.options.columns if column.name != OTHERS)
    return {column.name: _type_text(column.ddl) for column in columns}


def _type_text(ddl: str) -> str:
    """Return the type in a column's DDL, as far as it goes without Spark: what follows it stays."""
    rest = ddl.partition("` ")[2] if ddl.startswith("`") else ddl.partition(" ")[2]
    text = rest.strip().lower()
    return _SYNONYMS.get(text, text)


def _compared(name: str, declared: str, actual: str | None) -> PlannedColumn:
    if actual is None:
        difference = "neither the format nor a sampled message has it: it is NULL there"
    elif actual != declared:
        difference = f"messages or the format have {actual}"
    else:
        difference = ""
    return PlannedColumn(name, declared, actual, difference)
