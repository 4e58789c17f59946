"""Sources of pipelines that other packages offer, as the run-time reads its own: their changes become messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.contracts import SOURCE_COLUMNS, ChangeSource
from millrace.errors import PluginError
from millrace_catalog.types import Schema
from millrace_catalog.types.spark import from_spark_schema
from millrace_cdc.connectors.row_source import RowSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The array of `encode_change`. Spark writes that of the texts, to which rows, no columns and no key are appended
_MESSAGE = """
    binary(concat(
        trim(TRAILING ']' FROM to_json(array(table, operation))), ',',
        coalesce(before, 'null'), ',', coalesce(after, 'null'), ',null,null]'
    ))
"""
_PLACE = ("topic", "int(partition)", "bigint(offset)", "timestamp", "binary(null) AS key")


class ChangeRows(RowSource):
    """The changes of a source's stream.

    Args:
        source: The source.
        name: Its type in the pipeline's file, for errors.
    """

    def __init__(self, source: ChangeSource, name: str) -> None:
        super().__init__(source.options)
        self._source = source
        self._name = name

    @property
    def initial_schemas(self) -> Mapping[str, tuple[Schema, tuple[str, ...]]]:
        """The tables that the source declares."""
        return {
            table.id: (from_spark_schema(table.schema, lengths=True), table.primary_key)
            for table in self._source.tables()
        }

    @property
    def sample_scope(self) -> str:
        """The tables that the source declares: see `MessageSource.sample_scope`."""
        return "the tables that the source declares"

    def read(self, spark: SparkSession) -> DataFrame:
        """Return a stream of messages: see `MessageSource.read`."""
        changes = self._source.read(spark)
        names = [column.split(" ")[0] for column in SOURCE_COLUMNS.split(", ")]
        missing = ", ".join(name for name in names if name not in changes.columns)
        if missing:
            raise PluginError(f"pipeline source {self._name!r}: its stream lacks the columns {missing}")
        return changes.selectExpr(*_PLACE, f"{_MESSAGE} AS value")
