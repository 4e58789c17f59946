"""Run a query whose result comes to the driver: SELECT."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from millrace.contracts import ROW_KIND_COLUMN, ScanContext
from millrace_catalog.jvm import require_own_driver
from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.execution.checkpoints import QueryPlaces
from millrace_sql.execution.jobs import Job
from millrace_sql.execution.queries import QueryRunner, starting
from millrace_sql.execution.results import TableResult
from millrace_sql.planner.model import QueryPlan
from millrace_sql.script_texts import SqlText

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

_PAUSE_S = 0.05
_WAITING_BATCHES = 2


class SelectRunner:
    """Run queries whose results come to the driver.

    Args:
        spark: The session.
        configuration: The settings.
        queries: Plans and runs queries.
        places: Chooses names and checkpoints.
    """

    def __init__(
        self, spark: SparkSession, configuration: SessionConfiguration, queries: QueryRunner, places: QueryPlaces
    ) -> None:
        self._spark = spark
        self._configuration = configuration
        self._queries = queries
        self._places = places

    def run(self, query: SqlText) -> TableResult:
        """Run a query: a batch when its rows are taken, a stream at once.

        Raises:
            SqlError: It cannot run.
            MachineError: It is a stream, of a session of Spark Connect.
        """
        plan = self._queries.plan(query)
        self._queries.check_end(plan, query)
        width = self._configuration.options.column_width
        if not self._configuration.is_streaming:
            rows = self._queries.rows(plan, ScanContext(streaming=False, reads_once=True))
            return TableResult(rows.schema, _batch_rows(rows, self._configuration.applied()), max_width=width)
        place = self._places.of_select()
        started = False
        try:
            rows = self._queries.rows(plan, ScanContext(streaming=True), place)
            if not rows.isStreaming:
                batch_rows = _batch_rows(rows, self._configuration.applied())
                return TableResult(rows.schema, batch_rows, is_changelog=True, max_width=width)
            require_own_driver(self._spark, "the result of a stream")
            result = _StreamRows(plan)
            writer = rows.writeStream.queryName(place.name).outputMode(plan.output_mode)
            writer = writer.option("checkpointLocation", place.checkpoint).foreachBatch(result.add)
            trigger = self._queries.trigger(plan)
            with starting(self._spark, plan):
                started_query = (writer if trigger is None else writer.trigger(**trigger)).start()
            started = True
        finally:
            if not started:
                place.remove()

        def end() -> None:
            place.remove()

        job = Job([started_query], end, on_cancel=result.give_up)
        return TableResult(
            self._schema(query, plan, rows),
            result.rows(job),
            job=job,
            is_changelog=True,
            max_width=width,
            upsert_key=plan.upsert_key if plan.upsert_key or plan.has_one_row else None,
        )

    def _schema(self, query: SqlText, plan: QueryPlan, rows: DataFrame) -> StructType:
        if not plan.runs_per_batch:
            return rows.schema
        kinds = [] if plan.changelog_mode.is_insert_only else [ROW_KIND_COLUMN]
        schema = self._queries.schema(query)
        for name in kinds:
            schema = schema.add(name, "string")
        return schema


def _batch_rows(rows: DataFrame, settings: AbstractContextManager[None]) -> Iterator[Row]:
    """Return the rows of a batch, which starts with the settings of its statement when the first one is taken."""
    with settings:
        row_iterator = iter(rows.toLocalIterator(prefetchPartitions=True))
        first = list(islice(row_iterator, 1))
    yield from chain(first, row_iterator)


class _StreamRows:
    """Hand the rows of micro-batches to who takes them, and hold the stream while nobody does.

    Args:
        plan: The query.
    """

    def __init__(self, plan: QueryPlan) -> None:
        self._plan = plan
        self._batches: queue.Queue[list[Any]] = queue.Queue(_WAITING_BATCHES)
        self._given_up = threading.Event()

    def add(self, batch: DataFrame, batch_id: int) -> None:
        """Take a micro-batch."""
        if self._plan.runs_per_batch:
            batch = self._plan.apply_to_batch(batch, batch_id)
        rows = batch.collect()
        while not self._given_up.is_set():
            try:
                self._batches.put(rows, timeout=_PAUSE_S)
            except queue.Full:
                continue
            return

    def give_up(self) -> None:
        """Let go of the micro-batches that nobody will take."""
        self._given_up.set()

    def rows(self, job: Job) -> Iterator[Row]:
        """Return the rows until the stream ends; its failure is raised after the last."""
        while True:
            try:
                yield from self._batches.get(timeout=_PAUSE_S)
            except queue.Empty:
                if job.has_ended() and self._batches.empty():
                    break
        job.wait()
