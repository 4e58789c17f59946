"""Streaming writes, as Spark calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.sink.write_task import WriteTask
from millrace.spark.errors import user_errors
from millrace.spark.writing import TASKS_UNKNOWN, TaskMessage, Writing

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class StreamWriter(Writing, DataSourceStreamArrowWriter):
    """Appends the rows of each micro-batch to a topic. Spark makes one for every micro-batch.

    In output mode complete every micro-batch appends the whole result anew: a topic is a log. Spark's own connector
    does the same.
    """

    def __init__(self, config: SinkConfig, schema: StructType, *, check: bool) -> None:
        # Spark plans every micro-batch of a query that may run for months, some of them in a new process. As long as
        # the Java client waits, brokers may be away
        super().__init__(config, schema, check=check, patience_s=60.0)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """All tasks of a micro-batch have written; called on the driver, before Spark takes note of it."""
        self._check_tasks(messages, batchId)
        self._tell(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """A micro-batch has failed, some tasks of which may have written; also called when `commit` has failed."""
        self._tell(messages)

    def _check_tasks(self, messages: list[WriterCommitMessage | None], batch: int) -> None:
        told = [message for message in messages if isinstance(message, TaskMessage)]
        if not (self._config.options.is_exactly_once and told):
            return
        from millrace.sink.committer.orphaned_ledgers import check_first
        from millrace.sink.committer.query_registration import make_known

        query, run = told[0].query, told[0].run
        with user_errors():
            if any(message.written.is_new for message in told):
                check_first(self._config, query, run, batch, len(messages))
            elif not any(message.written.rows for message in told):
                make_known(self._config, query, run, batch)

    def _task(self, context: TaskContext) -> WriteTask:
        return WriteTask(
            context.partitionId(),
            TASKS_UNKNOWN,
            # What Spark calls the query and the micro-batch in its own sinks
            query=context.getLocalProperty("sql.streaming.queryId") or "",
            batch=int(context.getLocalProperty("streaming.sql.batchId") or 0),
            is_streaming=True,
            # A query's jobs are grouped by its run
            run=context.getLocalProperty("spark.jobGroup.id") or "",
        )
