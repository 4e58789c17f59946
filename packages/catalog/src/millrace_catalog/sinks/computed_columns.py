"""Columns that are computed from those of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_catalog.sinks.columns import check_case
from millrace_catalog.types import Schema
from millrace_catalog.types.names import quoted
from millrace_catalog.types.spark import from_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class AddedColumns:
    """Columns behind those of a table, by expressions over the latter.

    Args:
        expressions: Expressions of Spark's SQL by the names of the columns. Each gives one value for a row.
        table: The table's name, for errors.
    """

    def __init__(self, expressions: Mapping[str, str], table: str) -> None:
        self._expressions = dict(expressions)
        self._table = table

    def to(self, rows: DataFrame, schema: Schema) -> tuple[DataFrame, Schema]:
        """Rows of the table with these columns, too, and the columns that they have then.

        Raises:
            SchemaError: The table has a column of such a name, or an expression is wrong.
        """
        self._check(schema)
        for name, expression in self._expressions.items():
            self._try(rows, name, expression)
        found = rows.select("*", *(fn.expr(text).alias(name) for name, text in self._expressions.items()))
        new = from_spark_schema(found.select(*(f"`{name}`" for name in self._expressions)).schema)
        return found, Schema((*schema.columns, *new.columns))

    def _check(self, schema: Schema) -> None:
        known = {name.lower(): name for name in schema.names}
        for name in self._expressions:
            if name.lower() in known:
                raise SchemaError(
                    f"table {self._table!r} has a column {quoted(known[name.lower()])}, so that none of that name can "
                    f"be added: give the added column another name, or the catalog option 'value.fields-prefix'"
                )
        check_case((*schema.names, *self._expressions), f"table {self._table!r}")

    def _try(self, rows: DataFrame, name: str, expression: str) -> None:
        try:
            # Within a struct Spark refuses what gives several rows or columns
            rows.select("*", fn.struct(fn.expr(expression)))
        except PySparkException as error:
            reason = str(error).splitlines()[0]
            raise SchemaError(
                f"the added column {quoted(name)} of table {self._table!r}: {expression!r} is no expression of Spark's "
                f"SQL that gives a value for each row: {reason}"
            ) from None
