"""Write a table of Kafka's connectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace import set_active_session
from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode, SinkContext, TableSink
from millrace.errors import OptionsError
from millrace.options.secrets import Properties
from millrace_sql.connectors.kafka.data_source_options import KafkaTable, is_changelog
from millrace_sql.connectors.kafka.metadata import columns_to_write, metadata_option
from millrace_sql.connectors.rows import column_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery


class KafkaTableSink(TableSink):
    """Write of a table with ``'connector' = 'kafka'``.

    Args:
        kafka: The table.

    Raises:
        OptionsError, SchemaError: Its options or its metadata columns are wrong.
    """

    def __init__(self, kafka: KafkaTable) -> None:
        self._table = kafka.table
        self._parallelism = kafka.parallelism
        self._metadata = columns_to_write(kafka.table)
        self._options, config = kafka.sink_config(metadata_option(self._metadata))
        self._has_row_kinds = kafka.is_upsert or is_changelog(config)
        self._key_columns = config.options.key_fields

    @property
    def options(self) -> Properties:
        """The options of the data source."""
        return self._options

    @property
    def changelog_mode(self) -> ChangelogMode:
        """All kinds of rows with a format of changes, else insertions."""
        return ChangelogMode.ALL if self._has_row_kinds else ChangelogMode.INSERT_ONLY

    @property
    def needs_update_before(self) -> bool:
        """True with a format of changes: a message that takes the old row back goes before that of the new one."""
        return self._has_row_kinds

    def planned_write(self) -> Properties:
        """Return the options of the write."""
        return self._options

    def write(self, rows: DataFrame, sink: SinkContext) -> None:
        """Append the rows to the topic."""
        if sink.overwrite:
            raise OptionsError(
                f"table {self._table.name!r}", ("a topic cannot be overwritten: write INSERT INTO, not OVERWRITE",)
            )
        set_active_session(rows.sparkSession)
        self._prepared(rows).write.format("millrace").options(**self._options).mode("append").save()

    def start(self, rows: DataFrame, sink: SinkContext) -> StreamingQuery:
        """Start a stream that appends rows to the topic.

        Output mode update, which Spark does not offer to data sources in Python, goes through foreachBatch.
        """
        if sink.output_mode != "append":
            return super().start(rows, sink)
        set_active_session(rows.sparkSession)
        writer = self._prepared(rows).writeStream.format("millrace").options(**self._options)
        return sink.configure(writer).start()

    def _prepared(self, rows: DataFrame) -> DataFrame:
        """Select what the data source writes, divided among as many tasks as the table asks for."""
        columns = [column_of(column.name) for column in self._table.physical_columns]
        columns += [mapping.written() for mapping in self._metadata]
        if self._has_row_kinds and ROW_KIND_COLUMN in rows.columns:
            columns.append(column_of(ROW_KIND_COLUMN))
        return self._divided(rows.select(*columns))

    def _divided(self, rows: DataFrame) -> DataFrame:
        if self._parallelism is None:
            return rows
        # Records with the same key keep their order: one task writes them
        return rows.repartition(self._parallelism, *map(column_of, self._key_columns))
