"""Streaming reads, as Spark calls them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from millrace.configuration import SourceConfig
from millrace.source.enumerator.stream_offset import Offsets, StreamOffset
from millrace.spark.errors import user_errors
from millrace.spark.reading import Reading, ReportTo, SplitPartition
from millrace.spark.shutdown import Ending

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from millrace.source.enumerator.metrics_server import Monitor
    from millrace.source.enumerator.planner import Planner


class StreamReader(Reading, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads micro-batch by micro-batch. One lives on the driver as long as the query; executors get copies.

    Args:
        config: How to read.
        schema: The columns of the result.
    """

    def __init__(self, config: SourceConfig, schema: StructType) -> None:
        super().__init__(config, schema)
        self._planner_: Planner | None = None
        self._monitor_: Monitor | None = None
        self._first: StreamOffset | None = None
        self._is_checked = False
        self._processed: Offsets | None = None
        self._seen: StreamOffset | None = None
        self._is_draining = False
        self._last: Offsets | None = None
        self._ending = Ending(self._stop)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where a query without a checkpoint begins."""
        with user_errors():
            self._check()
            self._first = self._planner().first_offset()
            return self._first.to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Tells Spark whether the user set a limit for micro-batches; which ones there are, is in the options."""
        options = self._config.options
        if options.max_records_per_batch is not None:
            return ReadMaxRows(options.max_records_per_batch)
        if options.max_bytes_per_batch is not None:
            return ReadMaxBytes(options.max_bytes_per_batch)
        if options.min_records_per_batch is not None or options.max_drift_ms is not None:
            return ReadMinRows(options.min_records_per_batch or 1)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Nothing that arrives after the first micro-batch is planned is read."""
        self._is_draining = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Where the next micro-batch ends."""
        with user_errors():
            begin = StreamOffset.from_json(start)
            self._check()
            self._follow(begin)
            self._seen = self._planner().available(begin, self._last)
            if self._is_draining and self._last is None:
                self._last = self._seen.next
            end = self._seen
            if not isinstance(limit, ReadAllAvailable):
                end = self._planner().next_end(begin, end, draining=self._is_draining)
            return self._kept(begin, end).to_json()

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """How far the topics went at the last look, and metrics; both reach the user by the query's progress."""
        if self._seen is None:
            return None
        return {**self._seen.to_json(), "metrics": {**self._monitor().to_json(), **self._planner().metrics()}}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """A partition for each split of a micro-batch."""
        from millrace.source.enumerator.planner import plan_micro_batch

        with user_errors():
            # A micro-batch that is done again comes before `latestOffset`
            self._check()
            splits = plan_micro_batch(StreamOffset.from_json(start), StreamOffset.from_json(end), self._config.options)
        monitor = self._monitor()
        batch, address = monitor.begin(len(splits)), monitor.address
        return [
            SplitPartition(split, ReportTo(address, batch, number) if address else None)
            for number, split in enumerate(splits)
        ]

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing to do: Spark says so late, when the next micro-batch has records; see `latestOffset`."""

    def _kept(self, begin: StreamOffset, end: StreamOffset) -> StreamOffset:
        """The end of a micro-batch as the checkpoint is to have it; that of the first one tells its beginning, too.

        Spark keeps no beginning of the first one: to do it again it asks once more where a query without a checkpoint
        begins, which may be further on by then.
        """
        is_first = self._first is not None and begin.next == self._first.next
        return dataclasses.replace(end, joined=end.begin(begin)) if is_first and end != begin else end

    def _check(self) -> None:
        """Refuse what would fail in the middle of the query; looked up when it starts."""
        from millrace.source.enumerator.preflight import check_dead_letters

        if not self._is_checked:
            check_dead_letters(self._config)
            self._is_checked = True

    def _follow(self, start: StreamOffset) -> None:
        """Take note that everything before ``start`` is processed and in the checkpoint."""
        is_first = self._processed is None
        if is_first:
            self._planner().begin(start)
            self._ending.listen()
        if is_first or start.next != self._processed:
            self._monitor().finish()
            # Where a new query starts, nothing is processed yet
            if not (is_first and self._first is not None):
                self._planner().commit(start)
        self._processed = start.next

    def stop(self) -> None:
        """The query has ended."""
        self._ending()

    def _stop(self) -> None:
        if self._monitor_ is not None:
            self._monitor_.close()
        if self._planner_ is not None:
            self._planner_.stop()

    def _planner(self) -> Planner:
        # Made on the driver only, and not before it is needed: executors get this object without one
        from millrace.source.enumerator.planner import Planner

        if self._planner_ is None:
            self._planner_ = Planner(self._config)
        return self._planner_

    def _monitor(self) -> Monitor:
        from millrace.source.enumerator.metrics_server import Monitor

        if self._monitor_ is None:
            self._monitor_ = Monitor(self._config.options.metrics_address)
        return self._monitor_
