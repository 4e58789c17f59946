"""Kafka as a sink of pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from millrace.api.query_lineage import kafka_dataset
from millrace.contracts import (
    ChangeBatch,
    OptionProblem,
    PipelineDestination,
    PipelineSchemaChange,
    PipelineSink,
    PipelineTable,
    SinkCapabilities,
)
from millrace_cdc.connectors.kafka.format_options import unused_format_options
from millrace_cdc.connectors.kafka.sink_options import KafkaSinkOptions
from millrace_cdc.connectors.kafka.topics import SinkTopics
from millrace_cdc.connectors.kafka.writing import topics_of_tables, write_changes
from millrace_cdc.connectors.missing_old_rows import with_missing_old_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class KafkaPipelineSink(PipelineSink):
    """Changes of tables as messages."""

    Options = KafkaSinkOptions
    options: KafkaSinkOptions

    distinguishes_case = True

    def __init__(self, options: KafkaSinkOptions) -> None:
        super().__init__(options)
        self._topics = SinkTopics(options)

    @property
    def capabilities(self) -> SinkCapabilities:
        """All changes of columns, since each message shows those of its row; a topic keeps the messages that it has."""
        changes = SinkCapabilities.ALL_CHANGES - {"truncate.table", "drop.table"}
        capabilities = SinkCapabilities(changes, self.options.delivery_guarantee)
        return with_missing_old_rows(capabilities, self.options.updates_without_old_row)

    def destinations(
        self, session: Callable[[], SparkSession], tables: Sequence[PipelineTable]
    ) -> Iterator[PipelineDestination]:
        """Yield the topics of tables: see `PipelineSink.destinations`."""
        return topics_of_tables(tables, self.options, self._topics)

    def dataset(self, table: str) -> tuple[str, str]:
        """Name the topic of a table."""
        return kafka_dataset(self.options.bootstrap_servers, self._topics.of([table])[table])

    def apply(self, spark: SparkSession, changes: Sequence[PipelineSchemaChange]) -> None:
        """Do nothing: each message shows the columns of its row, and a topic is created before its first message."""

    def write(self, batch: ChangeBatch) -> None:
        """Write the changes of a micro-batch to topics, in one job: see `PipelineSink.write`."""
        write_changes(batch, self.options, self._topics)

    def problems(self) -> Iterator[OptionProblem]:
        """Yield options that do not go together."""
        options = self.options
        if options.topic and options.topic_mapping:
            yield OptionProblem(
                "sink.tableId-to-topic.mapping",
                "options 'topic' and 'sink.tableId-to-topic.mapping' exclude each other: give one of them",
            )
        if (options.delivery_guarantee == "exactly-once") != (options.transactional_id_prefix is not None):
            yield OptionProblem(
                "sink.transactional-id-prefix",
                "'sink.delivery-guarantee: exactly-once' and 'sink.transactional-id-prefix' go together: give both or "
                "none",
            )
        yield from unused_format_options(options)
