"""The reader that Spark calls for a batch read."""

from __future__ import annotations

from pyspark.sql.datasource import DataSourceReader, InputPartition

from millrace.spark.errors import user_errors
from millrace.spark.reader_base import ReaderBase, SplitPartition


class BatchReader(ReaderBase, DataSourceReader):
    """Reads from the starting to the stopping offsets, once."""

    def partitions(self) -> list[InputPartition]:
        """Plan a partition for each split; called once, on the driver."""
        from millrace.source.enumerator.planner import Planner
        from millrace.source.enumerator.preflight import check_dead_letter_topics

        with user_errors():
            check_dead_letter_topics(self._config)
            return [SplitPartition(split) for split in Planner.connect(self._config).batch_splits()]
