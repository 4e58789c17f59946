"""The rows of a table, as the formats of Spark read and write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import StructField, StructType

from millrace.contracts import TableColumn, TableDescription
from millrace.errors import SchemaError
from millrace.options.suggestions import closest

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def column_of(name: str) -> Column:
    """Return a column by its name, whatever characters that has."""
    from pyspark.sql import functions as fn

    return fn.col(f"`{name.replace('`', '``')}`")


def schema_of(table: TableDescription) -> StructType:
    """Return the physical columns of a table as a schema of Spark."""
    return StructType([StructField(column.name, column.type, column.nullable) for column in table.physical_columns])


def physical_rows(rows: DataFrame, table: TableDescription) -> DataFrame:
    """Select the physical columns of a table from rows that are written to it, in the table's order."""
    return rows.select(*(column_of(column.name) for column in table.physical_columns))


def as_declared(rows: DataFrame, table: TableDescription) -> DataFrame:
    """Select the physical columns of a table from rows that have columns of their own, in the declared types.

    Raises:
        SchemaError: The rows lack one of them.
    """
    return rows.select(*(_declared(rows, column, table) for column in table.physical_columns))


def refuse_metadata(table: TableDescription, connector: str) -> None:
    """Refuse metadata columns for a connector that has none.

    Raises:
        SchemaError: The table has one.
    """
    for column in table.metadata_columns:
        raise SchemaError(
            f"table {table.name!r}: column {column.name!r} is declared as metadata {column.metadata_key!r}, and "
            f"connector {connector!r} has none: drop METADATA, or the column"
        )


def _declared(rows: DataFrame, column: TableColumn, table: TableDescription) -> Column:
    by_name = {name.lower(): name for name in rows.columns}
    source_name = by_name.get(column.name.lower())
    if source_name is None:
        close = closest(column.name, rows.columns)
        hint = f"did you mean {close!r}? " if close else ""
        raise SchemaError(
            f"table {table.name!r}: there is no column {column.name!r}; {hint}There is {', '.join(rows.columns)}"
        )
    return column_of(source_name).cast(column.type).alias(column.name)
