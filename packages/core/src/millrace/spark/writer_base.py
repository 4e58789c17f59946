"""The common part of batch and streaming writers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.gc_control import LOADED_OBJECTS
from millrace.monitoring.report import ReceiverAddress
from millrace.monitoring.session_receivers import SETTING, parse_receivers
from millrace.pyspark_internals import (
    from_arrow_schema,
    micro_batch_id,
    query_run_id,
    session_setting,
    streaming_query_id,
)
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.spark.division import may_divide_anew
from millrace.spark.errors import executor_errors, user_errors
from millrace.spark.schema import arrow_schema, column_types

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


TASK_COUNT_UNKNOWN = 0
"""Spark tells a Python task its index, but not how many tasks there are."""


@dataclass
class TaskReport(WriterCommitMessage):
    """The report of a task to the driver.

    Attributes:
        query: Its query.
        result: Its result.
        attempt: The number of attempts before this one.
        run: The run of its query.
        index: Its index.
        batch: The micro-batch; None for a batch write outside of foreachBatch.
        receivers: Who follows the queries of the session.
        followed_run: The run of the streaming query that they follow.
    """

    query: str
    result: WriteResult
    attempt: int = 0
    run: str = ""
    index: int = 0
    batch: int | None = None
    receivers: tuple[ReceiverAddress, ...] = ()
    followed_run: str = ""


def task_reports(messages: Sequence[WriterCommitMessage | None]) -> list[TaskReport]:
    """Select the reports among the messages of tasks, which are None for tasks that did not end well."""
    return [message for message in messages if isinstance(message, TaskReport)]


def failed_attempts(messages: Sequence[WriterCommitMessage | None]) -> int:
    """Count the attempts that failed: one for each task without a report, and those before an attempt with one."""
    reports = task_reports(messages)
    return len(messages) - len(reports) + sum(report.attempt for report in reports)


class WriterBase:
    """Write rows on executors; created on the driver, where columns, topics and client properties are checked.

    Args:
        config: The sink's configuration.
        schema: The rows' columns.
        check: Whether to check the topics and the client's properties too, which needs the cluster.
        connect_timeout_s: How long that check waits for brokers that do not answer, in seconds.
    """

    def __init__(
        self, config: SinkConfig, schema: StructType, *, check: bool = True, connect_timeout_s: float | None = None
    ) -> None:
        from millrace.sink.committer.checkpoint_evidence import planned_batch
        from millrace.sink.committer.completed_batches import completed_run
        from millrace.sink.preflight import prepare
        from millrace.sink.writer.record_builder import record_builder_for

        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            record_builder_for(config, self._schema)
            if check:
                self._config = prepare(config, connect_timeout_s)
        self._completed = completed_run(self._config) if config.options.is_exactly_once else None
        is_planning = check and config.options.is_exactly_once
        self._planned = planned_batch(self._config, self._completed) if is_planning else None
        LOADED_OBJECTS.freeze()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> TaskReport:
        """Write the rows of one task, on an executor."""
        from millrace.sink.pipeline import write

        context = TaskContext.get()
        followed_run = query_run_id(context) if streaming_query_id(context) else ""
        receivers = parse_receivers(session_setting(context, SETTING)) if followed_run else ()
        with user_errors():
            task = dataclasses.replace(self._task(context), is_measured=bool(receivers))
        with executor_errors():
            result = write(self._config, self._schema, iterator, task)
        LOADED_OBJECTS.freeze()
        batch = task.batch if task.is_streaming else None
        report = TaskReport(task.query, result, context.attemptNumber(), task.run, task.index, batch)
        return dataclasses.replace(report, receivers=receivers, followed_run=followed_run)

    def _commit_micro_batch(self, messages: Sequence[WriterCommitMessage | None], batch: int, write: str = "") -> None:
        from millrace.sink.pipeline import commit_micro_batch

        reports = task_reports(messages)
        if reports:
            results = {report.index: report.result for report in reports}
            with user_errors():
                commit_micro_batch(self._config, reports[0].query, reports[0].run, batch, results, write)

    def _micro_batch_task(self, context: TaskContext, write: str = "") -> WriteTask:
        run, batch = query_run_id(context), micro_batch_id(context)
        completed, planned, options = self._completed, self._planned, self._config.options
        return WriteTask(
            context.partitionId(),
            TASK_COUNT_UNKNOWN,
            query=streaming_query_id(context),
            batch=batch,
            is_streaming=True,
            run=run,
            completed_batch=completed.batch if completed is not None and completed.run == run else None,
            write=write,
            planned=planned if planned is not None and planned.batch == batch else None,
            may_divide_anew=options.is_exactly_once and may_divide_anew(context, options, is_batch=bool(write)),
        )

    def _report(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        reports = task_reports(messages)
        followed = next((report for report in reports if report.receivers), None)
        if followed is None and not self._config.options.is_measured:
            return
        from millrace.sink.write_metrics import receivers_of, send_sink_report, sink_report

        options, results = self._config.options, [report.result for report in reports]
        report = sink_report(results, failed_attempts(messages), is_exactly_once=options.is_exactly_once)
        send_sink_report(receivers_of(options), report)
        if followed is not None:
            written = dataclasses.replace(
                report,
                run=followed.followed_run,
                servers=self._config.client.get("bootstrap.servers", ""),
                topics=options.topics,
                columns=column_types(from_arrow_schema(self._schema)),
            )
            send_sink_report(followed.receivers, written)

    def _task(self, context: TaskContext) -> WriteTask:
        raise NotImplementedError
