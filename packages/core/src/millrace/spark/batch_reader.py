"""The reader that Spark calls for a batch read."""

from __future__ import annotations

from pyspark.sql.datasource import DataSourceReader, InputPartition

from millrace.spark.errors import user_errors
from millrace.spark.reader_base import ReaderBase, SplitPartition
from millrace.spark.split_reader import batch_splits


class BatchReader(ReaderBase, DataSourceReader):
    """Reads from the starting to the stopping offsets, once."""

    def partitions(self) -> list[InputPartition]:
        """Plan a partition for each split; called once, on the driver."""
        with user_errors():
            return [SplitPartition(split) for split in batch_splits(self._config)]
