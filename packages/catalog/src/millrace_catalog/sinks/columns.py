"""The columns of a target beside those of the rows that come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_catalog.sinks.casting import cast
from millrace_catalog.types import Column, Schema, widen_schemas
from millrace_catalog.types.names import quoted
from millrace_catalog.types.spark import to_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def widened(held: Schema, wanted: Schema, target: str) -> Schema:
    """The columns of a target when it holds the wanted ones, too: its own as wide as needed, then those it lacks.

    Args:
        held: What it has.
        wanted: What is to come.
        target: What errors call it.

    Raises:
        SchemaError: Names differ only in case from each other.
    """
    after = widen_schemas(held, wanted)
    check_case(after.names, target)
    return after


def check_case(names: tuple[str, ...], what: str) -> None:
    """Refuse names that neither Spark nor most databases tell apart.

    Raises:
        SchemaError: Two of them differ only in case.
    """
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise SchemaError(
                f"{what} would have the columns {quoted(other)} and {quoted(name)}, which differ only in case: choose "
                f"other prefixes ('key.fields-prefix', 'value.fields-prefix') or names of added columns"
            )


def added(before: Schema, after: Schema) -> tuple[Column, ...]:
    """The columns that are only in ``after``."""
    known = before.types
    return tuple(column for column in after if column.name not in known)


def fitted(rows: DataFrame, schema: Schema) -> DataFrame:
    """Rows with exactly the columns of a schema, as wide; those that they lack are NULL.

    Raises:
        SchemaError: They have columns besides, which would be lost.
    """
    types = {field.name: field.dataType for field in rows.schema.fields}
    if more := sorted(types.keys() - schema.types.keys()):
        raise SchemaError(f"the target has no column {quoted(more[0])}: prepare it for the columns of the rows first")
    return rows.select(
        [
            cast(rows[_name(field.name)], types[field.name], field.dataType).alias(field.name)
            if field.name in types
            else fn.lit(None).cast(field.dataType).alias(field.name)
            for field in to_spark_schema(schema).fields
        ]
    )


def no_rows(spark: SparkSession, schema: Schema) -> DataFrame:
    """Columns without rows."""
    return spark.createDataFrame([], to_spark_schema(schema))


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
