"""What batch and streaming writes have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.spark.errors import user_errors

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Written(WriterCommitMessage):
    """What a task tells the driver: how many records it wrote."""

    records: int


def check_write(config: SinkConfig, schema: pa.Schema) -> None:
    """Refuse, on the driver and before any task starts, a write that cannot work.

    Raises:
        SchemaError, OptionsError: The rows or the options do not fit.
        UnreachableError, UnknownTopicError: The topic cannot be written to.
    """
    from millrace.sink.check import check_target
    from millrace.sink.encode import encode_for

    encode_for(config, schema)
    check_target(config.client, config.options.topics, idempotent=config.options.waits_for_brokers)


def write_task(config: SinkConfig, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Written:
    """Write one task's rows; on an executor."""
    from millrace.sink.pipeline import WriteTask, write

    context = TaskContext.get()
    index = context.partitionId() if context else 0
    with user_errors():
        return Written(write(config, schema, batches, WriteTask(index, 0)))
