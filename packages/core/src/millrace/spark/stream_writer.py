"""The writer that Spark calls for each micro-batch of a streaming write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.pyspark_internals import micro_batch_id, query_run_id, streaming_query_id
from millrace.sink.write_task import WriteTask
from millrace.spark.division import check_division_is_repeatable
from millrace.spark.errors import user_errors
from millrace.spark.writer_base import TASK_COUNT_UNKNOWN, TaskReport, WriterBase, task_reports

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class StreamWriter(WriterBase, DataSourceStreamArrowWriter):
    """Appends the rows of a micro-batch to topics. Spark creates one for every micro-batch.

    In output mode complete every micro-batch appends the whole result anew: a topic is a log. Spark's own connector
    does the same.
    """

    def __init__(self, config: SinkConfig, schema: StructType, *, check: bool) -> None:
        # Spark plans every micro-batch of a query that may run for months, some of them in a new process. As long as
        # the Java client waits, brokers may be away
        super().__init__(config, schema, check=check, connect_timeout_s=60.0)
        from millrace.sink.committer.completed_batches import completed_run

        self._completed = completed_run(self._config) if config.options.is_exactly_once else None

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskReport:
        """Write the rows of one task, on an executor."""
        if self._config.options.is_exactly_once:
            with user_errors():
                check_division_is_repeatable(TaskContext.get())
        return super().write(iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Complete a micro-batch whose tasks have all written; on the driver, before Spark logs the micro-batch."""
        from millrace.sink.pipeline import commit_micro_batch

        reports = task_reports(messages)
        if reports:
            results = {report.index: report.result for report in reports}
            with user_errors():
                commit_micro_batch(self._config, reports[0].query, reports[0].run, batchId, results)
        self._report(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Report a micro-batch that failed, some tasks of which may have written; also called when `commit` fails."""
        self._report(messages)

    def _task(self, context: TaskContext) -> WriteTask:
        run = query_run_id(context)
        return WriteTask(
            context.partitionId(),
            TASK_COUNT_UNKNOWN,
            query=streaming_query_id(context),
            batch=micro_batch_id(context),
            is_streaming=True,
            run=run,
            completed_batch=self._completed.batch if self._completed and self._completed.run == run else None,
        )
