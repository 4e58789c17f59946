"""Fit the columns of a sink and those of its rows to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace.pyspark_internals import empty_dataframe
from millrace_catalog.sinks.casting import cast
from millrace_catalog.types import Column, Schema, widen_schemas
from millrace_catalog.types.identifiers import backquote, quote_name
from millrace_catalog.types.spark import to_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def widen_sink(current: Schema, required: Schema, sink: str) -> Schema:
    """Widen the columns of a sink to hold the required ones, and append those that it lacks.

    Args:
        current: Columns of the sink.
        required: Columns of the rows to append.
        sink: Name of the sink, for errors.

    Raises:
        SchemaError: Names differ only in case.
    """
    after = widen_schemas(current, required)
    check_case(after.names, sink)
    return after


def check_case(names: tuple[str, ...], table: str) -> None:
    """Refuse names that Spark and most databases take for the same.

    Raises:
        SchemaError: Two names differ only in case.
    """
    spellings: dict[str, str] = {}
    for name in names:
        other = spellings.setdefault(name.lower(), name)
        if other != name:
            raise SchemaError(
                f"{table} would have the columns {quote_name(other)} and {quote_name(name)}, which differ only in "
                f"case: choose other prefixes ('key.fields-prefix', 'value.fields-prefix') or names of computed "
                f"columns, or rename one in a projection"
            )


def new_columns(before: Schema, after: Schema) -> tuple[Column, ...]:
    """Return the columns that only ``after`` has."""
    types = before.types
    return tuple(column for column in after if column.name not in types)


def cast_rows(rows: DataFrame, schema: Schema) -> DataFrame:
    """Cast rows to exactly the columns of a schema; columns that they lack are NULL.

    Raises:
        SchemaError: The rows have other columns, which would be lost.
    """
    types = {field.name: field.dataType for field in rows.schema.fields}
    if unknown := sorted(types.keys() - schema.types.keys()):
        raise SchemaError(
            f"the sink has no column {quote_name(unknown[0])}: call prepare with the columns of the rows first"
        )
    return rows.select(
        [
            cast(rows[backquote(field.name)], types[field.name], field.dataType).alias(field.name)
            if field.name in types
            else fn.lit(None).cast(field.dataType).alias(field.name)
            for field in to_spark_schema(schema).fields
        ]
    )


def empty_rows(spark: SparkSession, schema: Schema) -> DataFrame:
    """Make a DataFrame with these columns and no rows."""
    return empty_dataframe(spark, to_spark_schema(schema))
