"""The writer that Spark calls for a batch write."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.errors import OptionsError
from millrace.sink.write_task import WriteTask
from millrace.spark.errors import user_errors
from millrace.spark.writer_base import TASK_COUNT_UNKNOWN, WriterBase

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class BatchWriter(WriterBase, DataSourceArrowWriter):
    """Append the rows of a DataFrame to topics.

    Args:
        config: The sink's configuration.
        schema: The rows' columns.
        overwrite: Whether the user asked to replace the data of the topic, which is refused.
    """

    def __init__(self, config: SinkConfig, schema: StructType, overwrite: bool) -> None:
        with user_errors():
            if overwrite:
                raise OptionsError("sink", ("a topic cannot be overwritten; use .mode('append')",))
        super().__init__(config, schema)
        # Sent to all tasks: a repeated attempt finds its ledger entry by it
        self._run = str(uuid.uuid4())

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Report a write whose tasks have all written; on the driver."""
        self._report(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Report a write that failed, some tasks of which may have written; on the driver."""
        self._report(messages)

    def _task(self, context: TaskContext) -> WriteTask:
        # Also inside foreachBatch, which may write several times for one micro-batch
        return WriteTask(context.partitionId(), TASK_COUNT_UNKNOWN, self._run)
