"""What batch and streaming writes have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.spark.errors import user_errors
from millrace.spark.gc_control import exempt_what_is_loaded
from millrace.spark.schema import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


TASKS_UNKNOWN = 0
"""Spark tells a Python task its index, but not how many there are."""


@dataclass
class TaskMessage(WriterCommitMessage):
    """What a task tells the driver.

    Attributes:
        query: Its query.
        written: What it has done.
        attempt: How many attempts of it there were before.
        run: The run of its query.
    """

    query: str
    written: WriteResult
    attempt: int = 0
    run: str = ""


class Writing:
    """Writes rows on executors; made on the driver, where columns, topics and client properties are checked.

    Args:
        config: How to write.
        schema: The rows' columns.
        check: Whether the topics and the client's properties are checked too, which needs the cluster.
        patience_s: How long that waits for brokers that do not answer.
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
        exempt_what_is_loaded()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskMessage:
        """Called on an executor for each task."""
        from millrace.sink.pipeline import write

        context = TaskContext.get()
        task = self._task(context)
        with user_errors():
            written = write(self._config, self._schema, iterator, task)
        exempt_what_is_loaded()
        return TaskMessage(task.query, written, context.attemptNumber(), task.run)

    def _tell(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Tell whoever listens to metrics what the tasks have done."""
        from millrace.spark.write_report import tell

        tell(self._config.options, messages)

    def _task(self, context: TaskContext) -> WriteTask:
        raise NotImplementedError
