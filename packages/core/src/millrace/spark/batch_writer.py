"""Batch writes, as Spark calls them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.errors import OptionsError
from millrace.sink.write_task import WriteTask
from millrace.spark.errors import user_errors
from millrace.spark.writing import TASKS_UNKNOWN, Writing

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class BatchWriter(Writing, DataSourceArrowWriter):
    """Appends the rows of a DataFrame to a topic.

    Args:
        config: How to write.
        schema: The rows' columns.
        overwrite: Whether the user asked to replace what is there, which a log cannot.
    """

    def __init__(self, config: SinkConfig, schema: StructType, overwrite: bool) -> None:
        with user_errors():
            if overwrite:
                raise OptionsError("sink", ("a topic cannot be overwritten; use .mode('append')",))
        super().__init__(config, schema)
        # Travels to all tasks: a task that is tried again finds what it has written by it
        self._run = str(uuid.uuid4())

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """All tasks have written; called on the driver."""
        self._tell(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """The write has failed, though some tasks may have written; called on the driver."""
        self._tell(messages)

    def _task(self, context: TaskContext) -> WriteTask:
        # Also inside foreachBatch, which may write several times for one micro-batch
        return WriteTask(context.partitionId(), TASKS_UNKNOWN, self._run)
