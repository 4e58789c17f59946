"""Batch reads, as Spark calls them."""

from __future__ import annotations

from pyspark.sql.datasource import DataSourceReader, InputPartition

from millrace.spark.errors import user_errors
from millrace.spark.reading import Reading, SplitPartition


class BatchReader(Reading, DataSourceReader):
    """Reads from the starting to the stopping offsets, once."""

    def partitions(self) -> list[InputPartition]:
        """Called once, on the driver: a partition for each split."""
        from millrace.source.enumerator.planner import Planner
        from millrace.source.enumerator.preflight import check_dead_letters

        with user_errors():
            check_dead_letters(self._config)
            return [SplitPartition(split) for split in Planner(self._config).batch_splits()]
