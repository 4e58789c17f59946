"""The reader that Spark calls for a batch read."""

from __future__ import annotations

from pyspark.sql.datasource import DataSourceReader, InputPartition

from millrace.spark.errors import user_errors
from millrace.spark.reader_base import ReaderBase, SplitPartition


class BatchReader(ReaderBase, DataSourceReader):
    """Reads from the starting to the stopping offsets, once."""

    def partitions(self) -> list[InputPartition]:
        """Plan a partition for each split; called once, on the driver."""
        from millrace.kafka.admin import admin_for
        from millrace.source.enumerator.planner import Planner
        from millrace.source.enumerator.preflight import check_dead_letter_topics

        with user_errors():
            check_dead_letter_topics(self._config)
            # Spark plans one read after the other in the same process
            planner = Planner.connect(self._config, admin_for(self._config.client))
            return [SplitPartition(split) for split in planner.batch_splits()]
