"""Columns that are computed from those of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace.failures import reason_of
from millrace.options.suggestions import closest
from millrace_catalog.sinks.columns import check_case
from millrace_catalog.types import Column, Schema
from millrace_catalog.types.identifiers import backquote, quote_name
from millrace_catalog.types.spark import from_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ComputedColumns:
    """Columns to add behind those of a table, computed from them.

    Args:
        expressions: Spark SQL expressions by column name, with one value per row; each may use the columns before it.
        table: Name of the table, for errors.
        places: The column after which a computed one stands, by its name; an empty text for the first place. The others
            come last.
    """

    def __init__(self, expressions: Mapping[str, str], table: str, places: Mapping[str, str] | None = None) -> None:
        self._expressions = dict(expressions)
        self._table = table
        self._places = dict(places or {})

    def add_to(self, rows: DataFrame, schema: Schema) -> tuple[DataFrame, Schema]:
        """Add the columns to rows of the table; return the rows and all of their columns.

        Raises:
            SchemaError: The table has a column of such a name, an expression is wrong, or there is no such place.
        """
        self._check_names(schema)
        all_rows = rows
        for name, expression in self._expressions.items():
            self._check_expression(all_rows, name, expression)
            all_rows = all_rows.select("*", fn.expr(expression).alias(name))
        new = from_spark_schema(all_rows.select(*map(backquote, self._expressions)).schema)
        return all_rows, Schema(self._placed(schema.columns, new.columns))

    def _placed(self, columns: tuple[Column, ...], computed: tuple[Column, ...]) -> tuple[Column, ...]:
        placed = list(columns)
        for column in computed:
            before = self._places.get(column.name)
            names = [other.name.lower() for other in placed]
            if before and before.lower() not in names:
                close = closest(before, [other.name for other in placed])
                hint = f"did you mean {quote_name(close)}?" if close else "place the column after another one"
                raise SchemaError(
                    f"computed column {quote_name(column.name)} is to stand after {quote_name(before)}, which table "
                    f"{self._table!r} does not have; {hint}"
                )
            place = len(placed) if before is None else names.index(before.lower()) + 1 if before else 0
            placed.insert(place, column)
        return tuple(placed)

    def _check_names(self, schema: Schema) -> None:
        table_names = {name.lower(): name for name in schema.names}
        for name in self._expressions:
            if name.lower() in table_names:
                raise SchemaError(
                    f"table {self._table!r} has a column {quote_name(table_names[name.lower()])}: give the computed "
                    f"column another name, or the catalog option 'value.fields-prefix'"
                )
        check_case((*schema.names, *self._expressions), f"table {self._table!r}")

    def _check_expression(self, rows: DataFrame, name: str, expression: str) -> None:
        try:
            # In a struct Spark refuses expressions with several rows or columns
            rows.select("*", fn.struct(fn.expr(expression)))
        except PySparkException as error:
            raise SchemaError(
                f"computed column {quote_name(name)} of table {self._table!r}: expected a Spark SQL expression with "
                f"one value per row, got {expression!r}: {reason_of(error)}"
            ) from None
