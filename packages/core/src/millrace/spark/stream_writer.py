"""The writer that Spark calls for each micro-batch of a streaming write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.sink.write_task import WriteTask
from millrace.spark.writer_base import WriterBase

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class StreamWriter(WriterBase, DataSourceStreamArrowWriter):
    """Appends the rows of a micro-batch to topics. Spark creates one for every micro-batch.

    In output mode complete every micro-batch appends the whole result again: a topic is a log. Spark's own connector
    does the same.
    """

    def __init__(self, config: SinkConfig, schema: StructType, *, check: bool) -> None:
        # Spark plans every micro-batch of a query that may run for months, some of them in a new process. As long as
        # the Java client waits, brokers may be away
        super().__init__(config, schema, check=check, connect_timeout_s=60.0)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Complete a micro-batch whose tasks have all written; on the driver, before Spark logs the micro-batch."""
        self._commit_micro_batch(messages, batchId)
        self._report(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Report a micro-batch that failed, some tasks of which may have written; also called when `commit` fails."""
        self._report(messages)

    def _task(self, context: TaskContext) -> WriteTask:
        return self._micro_batch_task(context)
