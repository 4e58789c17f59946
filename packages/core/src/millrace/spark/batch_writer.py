"""Batch writes, as Spark calls them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceArrowWriter

from millrace.configuration import SinkConfig
from millrace.errors import OptionsError
from millrace.spark.errors import user_errors
from millrace.spark.schema import arrow_schema
from millrace.spark.writing import Written, check_write, write_task

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class BatchWriter(DataSourceArrowWriter):
    """Appends the rows of a DataFrame to a topic.

    Args:
        config: How to write.
        schema: The rows' columns.
        overwrite: Whether the user asked to replace what is there, which a log cannot.
    """

    def __init__(self, config: SinkConfig, schema: StructType, overwrite: bool) -> None:
        with user_errors():
            if overwrite:
                raise OptionsError("sink", ("a topic cannot be overwritten; use .mode('append')",))
            self._config = config
            self._schema = arrow_schema(schema)
            check_write(config, self._schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Called on an executor for each task."""
        return write_task(self._config, self._schema, iterator)
