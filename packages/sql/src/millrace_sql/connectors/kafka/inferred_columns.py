"""Find the columns of a topic that a table does not declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql.types import StringType

from millrace.contracts import TableColumn
from millrace.contracts.table_factory import ROW_KIND_COLUMN
from millrace.errors import SchemaError
from millrace_sql.connectors.kafka.data_source_options import KafkaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def infer_columns(kafka: KafkaTable, spark: SparkSession) -> tuple[TableColumn, ...]:
    """Return the columns of a table: the declared ones, and those that the data source infers from the topic.

    Messages tell nothing of the types of keys: a column of the key that is not declared is STRING.

    Raises:
        SchemaError: The topic has no messages, or they cannot be read together.
    """
    _, config = kafka.source_config({})
    keys = config.options.key_fields if config.options.leaves_key_out else ()
    # The data source needs to know which columns are the key's, and infers the others without them
    declared_keys = {"columns": ", ".join([*(f"`{name.replace('`', '``')}` STRING" for name in keys), "*"])}
    options, _ = kafka.source_config(declared_keys if keys else {})
    try:
        schema = spark.read.format("millrace").options(**options).load().schema
    except PySparkException as error:
        message = SchemaError.message_in(error)
        if message is None:
            raise
        raise SchemaError(f"table {kafka.table.name!r}: {message}") from None
    declared = {column.name for column in kafka.table.columns}
    new = [TableColumn(field.name, field.dataType, field.nullable) for field in schema]
    inferred = [column for column in new if column.name not in {*declared, *keys, ROW_KIND_COLUMN}]
    undeclared_keys = [TableColumn(name, StringType()) for name in keys if name not in declared]
    return (*kafka.table.columns, *undeclared_keys, *inferred)
