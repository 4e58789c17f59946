"""The connector kafka: a table whose rows are the messages of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import TableColumn, TableDescription, TableFactory
from millrace_sql.connectors.kafka.creation_checks import check_table
from millrace_sql.connectors.kafka.data_source_options import kafka_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_sql.connectors.kafka.sink import KafkaTableSink
    from millrace_sql.connectors.kafka.source import KafkaTableSource


class KafkaTableFactory(TableFactory):
    """Tables with ``'connector' = 'kafka'``; their options are those of the data source, which checks them."""

    def check(self, table: TableDescription) -> None:
        """Check options and metadata columns: see `TableFactory.check`."""
        check_table(kafka_table(table, "kafka"))

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[TableColumn, ...]:
        """Infer the columns of the values from the newest messages: see `TableFactory.infer_columns`."""
        from millrace_sql.connectors.kafka.inferred_columns import infer_columns

        return infer_columns(kafka_table(table, "kafka"), spark)

    def source(self, table: TableDescription) -> KafkaTableSource:
        """Return a reader of the topics."""
        from millrace_sql.connectors.kafka.source import KafkaTableSource

        return KafkaTableSource(kafka_table(table, "kafka"))

    def sink(self, table: TableDescription) -> KafkaTableSink:
        """Return a writer of the topic."""
        from millrace_sql.connectors.kafka.sink import KafkaTableSink

        return KafkaTableSink(kafka_table(table, "kafka"))
