"""The writer that Spark calls for a batch write, also for one inside foreachBatch."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.errors import OptionsError
from millrace.pyspark_internals import BESIDE_STREAMS, TRACKS_ASYNCHRONOUSLY, session_setting, streaming_query_id
from millrace.sink.write_task import WriteTask
from millrace.spark.errors import user_errors
from millrace.spark.options import asynchronous_progress
from millrace.spark.writer_base import TASK_COUNT_UNKNOWN, WriterBase, task_reports

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


logger = logging.getLogger("millrace.sink")

_BESIDE_STREAMS = (
    "the exactly-once write with 'sink.transactional-id-prefix' = %r belongs to no micro-batch, and streams are "
    "running: if the write is part of one, a repeated micro-batch is written twice. Give its thread the properties of "
    "the callback's: millrace.set_active_session(spark, properties), with properties = "
    "millrace.thread_properties(spark) in the callback"
)


class BatchWriter(WriterBase, DataSourceArrowWriter):
    """Append the rows of a DataFrame to topics.

    Inside foreachBatch with exactly-once it writes the micro-batch, once for each prefix, whatever is repeated.

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
        self._write_id = str(uuid.uuid4())

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Complete a write whose tasks have all written; on the driver."""
        batch = next((report.batch for report in task_reports(messages)), None)
        if batch is not None:
            self._commit_micro_batch(messages, batch, self._write_id)
        self._report(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Report a write that failed, some tasks of which may have written; on the driver."""
        self._report(messages)

    def _task(self, context: TaskContext) -> WriteTask:
        if not self._config.options.is_exactly_once:
            return WriteTask(context.partitionId(), TASK_COUNT_UNKNOWN, self._write_id)
        if not streaming_query_id(context):
            if session_setting(context, BESIDE_STREAMS) and not context.partitionId():
                logger.warning(_BESIDE_STREAMS, self._config.options.transactional_id_prefix)
            return WriteTask(context.partitionId(), TASK_COUNT_UNKNOWN, self._write_id)
        if session_setting(context, TRACKS_ASYNCHRONOUSLY):
            raise asynchronous_progress()
        return self._micro_batch_task(context, self._write_id)
