"""The connector upsert-kafka: a topic whose messages are the latest rows of a table with a primary key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import TableColumn, TableDescription, TableFactory
from millrace.errors import OptionsError
from millrace_sql.connectors.kafka.creation_checks import check_table
from millrace_sql.connectors.kafka.data_source_options import KafkaTable, kafka_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_sql.connectors.kafka.upsert_sink import UpsertKafkaSink
    from millrace_sql.connectors.kafka.upsert_source import UpsertKafkaSource


class UpsertKafkaTableFactory(TableFactory):
    """Tables with ``'connector' = 'upsert-kafka'``; their options are those of the data source, which checks them."""

    def check(self, table: TableDescription) -> None:
        """Check options and metadata columns: see `TableFactory.check`."""
        check_table(_upsert_table(table))

    def infer_columns(self, table: TableDescription, spark: SparkSession) -> tuple[TableColumn, ...]:
        """Infer the columns of the values from the newest messages: see `TableFactory.infer_columns`."""
        from millrace_sql.connectors.kafka.inferred_columns import infer_columns

        return infer_columns(_upsert_table(table), spark)

    def source(self, table: TableDescription) -> UpsertKafkaSource:
        """Return a reader of the table's changes."""
        from millrace_sql.connectors.kafka.upsert_source import UpsertKafkaSource

        return UpsertKafkaSource(_upsert_table(table))

    def sink(self, table: TableDescription) -> UpsertKafkaSink:
        """Return a writer of the table's changes."""
        from millrace_sql.connectors.kafka.upsert_sink import UpsertKafkaSink

        return UpsertKafkaSink(_upsert_table(table))


def _upsert_table(table: TableDescription) -> KafkaTable:
    """Take the options of a table, whose key is its primary key.

    Raises:
        OptionsError: It has no primary key, or an option that this replaces.
    """
    problems = []
    if not table.primary_key:
        problems.append(
            "connector 'upsert-kafka' requires a primary key, which is the key of its messages: declare "
            "PRIMARY KEY (id) NOT ENFORCED"
        )
    names = {name.lower() for name in table.options}
    if "key.fields" in names:
        problems.append("option 'key.fields': the key's columns are those of PRIMARY KEY; drop the option")
    if "changelog.mode" in names:
        problems.append(
            "option 'changelog.mode': a query gets whole rows, also of what is deleted; drop the option, which is for "
            "reads without SQL"
        )
    metadata = {column.name for column in table.metadata_columns}
    problems += [
        f"column {name!r} of the primary key is metadata; the key of a message has physical columns"
        for name in table.primary_key
        if name in metadata
    ]
    if problems:
        raise OptionsError(f"table {table.name!r}", tuple(problems))
    return kafka_table(table, "upsert-kafka", {"key.fields": ";".join(table.primary_key)})
