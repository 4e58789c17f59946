"""The common part of batch and streaming writers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.gc_control import freeze_loaded_objects
from millrace.sink.write_task import WriteTask
from millrace.spark.errors import user_errors
from millrace.spark.schema import arrow_schema
from millrace.spark.write_report import TaskReport, send_sink_report

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


TASK_COUNT_UNKNOWN = 0
"""Spark tells a Python task its index, but not how many tasks there are."""


class WriterBase:
    """Writes rows on executors; created on the driver, where columns, topics and client properties are checked.

    Args:
        config: The sink's configuration.
        schema: The rows' columns.
        check: Whether to check the topics and the client's properties too, which needs the cluster.
        patience_s: How long that check waits for brokers that do not answer, in seconds.
    """

    def __init__(
        self, config: SinkConfig, schema: StructType, *, check: bool = True, patience_s: float | None = None
    ) -> None:
        from millrace.sink.preflight import prepare
        from millrace.sink.writer.record_builder import record_builder_for

        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            record_builder_for(config, self._schema)
            if check:
                self._config = prepare(config, patience_s)
        freeze_loaded_objects()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskReport:
        """Write the rows of one task, on an executor."""
        from millrace.sink.pipeline import write

        context = TaskContext.get()
        task = self._task(context)
        with user_errors():
            result = write(self._config, self._schema, iterator, task)
        freeze_loaded_objects()
        return TaskReport(task.query, result, context.attemptNumber(), task.run)

    def _report(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        send_sink_report(self._config.options, messages)

    def _task(self, context: TaskContext) -> WriteTask:
        raise NotImplementedError
