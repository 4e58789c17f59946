"""What batch and streaming writes have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import WriterCommitMessage

from millrace.configuration import SinkConfig
from millrace.spark.collector import exempt_what_is_loaded
from millrace.spark.errors import user_errors
from millrace.spark.schema import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass
class Written(WriterCommitMessage):
    """What a task tells the driver: how many records it wrote."""

    records: int


class Writing:
    """Writes rows on executors; made on the driver, where columns, topics and client properties are checked.

    Args:
        config: How to write.
        schema: The rows' columns.
        check: Whether the topics and the client's properties are checked too, which needs the cluster.
    """

    def __init__(self, config: SinkConfig, schema: StructType, *, check: bool = True) -> None:
        from millrace.sink.check import check_target
        from millrace.sink.encode import encode_for

        with user_errors():
            self._config = config
            self._schema = arrow_schema(schema)
            encode_for(config, self._schema)
            if check:
                check_target(config.client, config.options.topics, idempotent=config.options.waits_for_brokers)
        exempt_what_is_loaded()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Called on an executor for each task."""
        from millrace.sink.pipeline import WriteTask, write

        context = TaskContext.get()
        # Spark tells a Python task its index, but not how many there are
        task = WriteTask(context.partitionId() if context else 0, 0)
        with user_errors():
            written = Written(write(self._config, self._schema, iterator, task))
        exempt_what_is_loaded()
        return written
