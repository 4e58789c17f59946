"""Batch reads, as Spark calls them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from millrace.configuration import SourceConfig
from millrace.spark.errors import user_errors
from millrace.spark.partition import SplitPartition, split_of
from millrace.spark.schema import arrow_schema, check_read_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class BatchReader(DataSourceReader):
    """Reads from the starting to the stopping offsets, once.

    Args:
        config: How to read.
        schema: The columns of the result.
    """

    def __init__(self, config: SourceConfig, schema: StructType) -> None:
        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            check_read_schema(config, self._schema)

    def partitions(self) -> list[InputPartition]:
        """Called once, on the driver: a partition for each split."""
        from millrace.source.planner import Planner

        with user_errors():
            return [SplitPartition(split) for split in Planner(self._config).batch_splits()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Called on an executor for each partition."""
        from millrace.source.pipeline import read

        with user_errors():
            yield from read(self._config, self._schema, split_of(partition))
