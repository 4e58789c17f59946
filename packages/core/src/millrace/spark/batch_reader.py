"""The reader that Spark calls for a batch read."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from millrace.spark.errors import user_errors
from millrace.spark.reader_base import ReaderBase, SplitPartition
from millrace.spark.split_reader import batch_splits

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

    from millrace.source.enumerator.conditions import Condition

logger = logging.getLogger("millrace.filter_pushdown")


class BatchReader(ReaderBase, DataSourceReader):
    """Reads from the starting to the stopping offsets, once."""

    _conditions: tuple[Condition, ...] = ()

    def partitions(self) -> list[InputPartition]:
        """Plan a partition for each split; called once, on the driver."""
        with user_errors():
            return [SplitPartition(split) for split in batch_splits(self._config, self._conditions)]


class FilteringBatchReader(BatchReader):
    """Reads only the offsets that the query's filters need.

    Spark refuses a reader with `pushFilters` in a session without ``spark.sql.python.filterPushdown.enabled``.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Take the filters that offsets can express, and return those that Spark has to evaluate."""
        from millrace.spark.pushed_filters import PushedFilters

        with user_errors():
            pushed = PushedFilters.of(filters, self._config)
            self._conditions = pushed.conditions
            logger.info("filters by which fewer offsets are read: %s", pushed.description)
            report = self._config.options.filter_report
            if report is not None and pushed.conditions:
                # Spark calls this in a process of its own
                Path(report).write_text(pushed.description)
            return pushed.remaining
