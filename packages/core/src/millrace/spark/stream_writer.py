"""Streaming writes, as Spark calls them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamArrowWriter

from millrace.configuration import SinkConfig
from millrace.spark.errors import user_errors
from millrace.spark.schema import arrow_schema
from millrace.spark.writing import Written, check_write, write_task

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class StreamWriter(DataSourceStreamArrowWriter):
    """Appends the rows of each micro-batch to a topic. Spark makes one for every micro-batch.

    Args:
        config: How to write.
        schema: The rows' columns.
        overwrite: Whether the query's output mode is complete. A topic is a log, so that every micro-batch appends
            the complete result anew, as with Spark's own connector.
    """

    def __init__(self, config: SinkConfig, schema: StructType, overwrite: bool) -> None:  # noqa: ARG002 - Spark's signature
        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            check_write(config, self._schema)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Called on an executor for each task of a micro-batch."""
        return write_task(self._config, self._schema, iterator)
