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

from millrace.checkpoint import Offsets, ReportedOffset, StreamOffset
from millrace.configuration import SourceConfig
from millrace.spark.errors import user_errors
from millrace.spark.reader_base import ReaderBase, ReportTo, SplitPartition
from millrace.spark.schema import column_types
from millrace.spark.shutdown import Shutdown

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from millrace.source.enumerator.metrics_server import MetricsServer
    from millrace.source.enumerator.planner import Planner
    from millrace.source.enumerator.state_preparation import StatePreparation
    from millrace.source.splits import Split


class StreamReader(ReaderBase, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Read micro-batch by micro-batch. One lives on the driver as long as the query; executors get copies.

    Args:
        config: How to read.
        schema: The columns of the result.
    """

    def __init__(self, config: SourceConfig, schema: StructType) -> None:
        super().__init__(config, schema)
        # The driver creates planner and metrics server when it first needs them: executors get neither
        self._open_planner: Planner | None = None
        self._open_metrics_server: MetricsServer | None = None
        self._has_checked = False
        # Where a query without a checkpoint begins
        self._first: StreamOffset | None = None
        # Everything before is processed and in the checkpoint
        self._processed: Offsets | None = None
        # How far the topics went at the last look
        self._available: StreamOffset | None = None
        # With the trigger availableNow: where this run ends
        self._is_draining = False
        self._run_end: Offsets | None = None
        self._shutdown = Shutdown(self._release)
        self._dataset = {"servers": config.client.get("bootstrap.servers", ""), "columns": column_types(self._columns)}
        # With the state of a table
        self._state_preparation: StatePreparation | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return where a query without a checkpoint begins."""
        with user_errors():
            self._check_once()
            self._first = self._planner().first_offset()
            return self._first.to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Return whether there is a limit for micro-batches; its amount is read from the options."""
        options = self._config.options
        if options.max_records_per_batch is not None:
            return ReadMaxRows(options.max_records_per_batch)
        if options.max_bytes_per_batch is not None:
            return ReadMaxBytes(options.max_bytes_per_batch)
        if options.min_records_per_batch is not None or options.max_drift_ms is not None:
            return ReadMinRows(options.min_records_per_batch or 1)
        return ReadMinRows(1) if options.has_default_limit else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Read nothing that arrives after the first micro-batch is planned."""
        self._is_draining = True

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802 - Spark's name
        """Return where the next micro-batch ends."""
        with user_errors():
            begin = StreamOffset.from_json(start)
            self._check_once()
            self._on_processed(begin)
            self._available = self._planner().available(begin, self._run_end)
            if self._is_draining and self._run_end is None:
                self._run_end = self._available.positions
            end = self._available
            if not isinstance(limit, ReadAllAvailable):
                end = self._planner().next_end(begin, end, draining=self._is_draining)
            return self._with_beginning(begin, end).to_json()

    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802 - Spark's name
        """Return how far the topics went at the last look, and metrics; both reach the user by the query's progress."""
        if self._available is None:
            return None
        read = self._metrics_server().progress(self._available.positions)
        metrics = {**read.to_json(), **self._planner().progress().to_json(), "dataset": self._dataset}
        return ReportedOffset(self._available, metrics).to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Plan a partition for each split of a micro-batch."""
        from millrace.source.enumerator.planner import plan_micro_batch
        from millrace.source.enumerator.stream_logs import with_logs

        with user_errors():
            # A micro-batch that is repeated comes before `latestOffset`
            self._check_once()
            first, last = StreamOffset.from_json(start), StreamOffset.from_json(end)
            splits = plan_micro_batch(first, last, self._config.options)
            if self._available is None:
                splits = self._planner().repeated(last, splits)
            if self._config.options.has_primary_key:
                splits = self._prepare_state(first, last, splits)
        server = self._metrics_server()
        available = {} if self._available is None else self._available.positions
        splits = with_logs(splits, last, available, server.mean_value_bytes())
        batch, address = server.begin_batch(len(splits)), server.address
        return [
            SplitPartition(split, ReportTo(address, batch, number) if address else None)
            for number, split in enumerate(splits)
        ]

    def commit(self, end: dict[str, Any]) -> None:
        """Note from where a restart may read again.

        The group's commits do not wait for it: Spark calls it late, when the next micro-batch has records; see
        `latestOffset`.
        """
        with user_errors():
            offset = StreamOffset.from_json(end)
            self._planner().on_logged(offset)
            if self._state_preparation is not None:
                self._state_preparation.commit(offset)

    def stop(self) -> None:
        """End the query."""
        self._shutdown()

    def _with_beginning(self, begin: StreamOffset, end: StreamOffset) -> StreamOffset:
        """Add to the end of the first micro-batch where that begins.

        Spark keeps no beginning of the first one: to repeat it, it asks once more where a query without a checkpoint
        begins, which may be further on by then.
        """
        is_first = self._first is not None and begin.positions == self._first.positions
        return (
            dataclasses.replace(end, start_overrides=end.starting_offsets(begin)) if is_first and end != begin else end
        )

    def _check_once(self) -> None:
        """Refuse, when the query starts, what would fail in the middle of it."""
        from millrace.source.enumerator.preflight import check_dead_letter_topics

        if not self._has_checked:
            if self._config.options.has_primary_key:
                from millrace.source.enumerator.state_preparation import check_state_location

                check_state_location(self._config.options)
            check_dead_letter_topics(self._config)
            self._has_checked = True

    def _prepare_state(self, start: StreamOffset, end: StreamOffset, splits: list[Split]) -> list[Split]:
        from millrace.source.enumerator.state_preparation import StatePreparation

        if self._state_preparation is None:
            self._state_preparation = StatePreparation(self._config.options)
        return self._state_preparation.prepare(start, end, splits)

    def _on_processed(self, offset: StreamOffset) -> None:
        """Finish metrics, and commit to the group, when everything before ``offset`` is in the checkpoint."""
        is_start = self._processed is None
        if is_start:
            self._planner().begin(offset)
            self._shutdown.listen()
        if is_start or offset.positions != self._processed:
            self._metrics_server().end_batch()
            # Where a new query starts, nothing is processed yet
            if not (is_start and self._first is not None):
                self._planner().commit(offset)
        self._processed = offset.positions

    def _release(self) -> None:
        if self._open_metrics_server is not None:
            self._open_metrics_server.close()
        if self._open_planner is not None:
            self._open_planner.stop()

    def _planner(self) -> Planner:
        from millrace.source.enumerator.planner import Planner

        if self._open_planner is None:
            self._open_planner = Planner.connect(self._config)
        return self._open_planner

    def _metrics_server(self) -> MetricsServer:
        from millrace.source.enumerator.metrics_server import MetricsServer

        if self._open_metrics_server is None:
            self._open_metrics_server = MetricsServer(self._config.options.metrics_address)
        return self._open_metrics_server
