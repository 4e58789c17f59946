"""Columns of Spark's own Kafka connector, for reads and writes without a format.

Names and types are those of Spark's "Structured Streaming + Kafka Integration Guide".
"""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import SchemaError
from millrace.records import message_columns as columns
from millrace.records.messages import Messages

WRITABLE_SPARK_KAFKA_COLUMNS = {
    "key": "__raw_key__",
    "value": "__raw_value__",
    "topic": "topic",
    "partition": "partition",
    "headers": "header-list",
    "timestamp": "timestamp",
}
"""The columns of a write, each with the metadata key that says what it holds."""

_READABLE_COLUMNS = {
    "key": columns.KEY,
    "value": columns.VALUE,
    "topic": columns.TOPIC,
    "partition": columns.PARTITION,
    "offset": columns.OFFSET,
    "timestamp": columns.RECORD_TIMESTAMP,
    "timestampType": columns.TIMESTAMP_TYPE_NUMBER,
    "headers": columns.HEADER_LIST_OR_NULL,
}


def spark_kafka_schema(*, include_headers: bool) -> pa.Schema:
    """Return the columns key, value, topic, partition, offset, timestamp, timestampType and, on request, headers."""
    names = [name for name in _READABLE_COLUMNS if include_headers or name != "headers"]
    return pa.schema([(name, _READABLE_COLUMNS[name].type) for name in names])


def check_spark_kafka_schema(schema: pa.Schema) -> None:
    """Refuse a schema with other columns than Spark's own connector has; any choice of them is accepted.

    Raises:
        SchemaError: A column is unknown or of another type.
    """
    for field in schema:
        column = _READABLE_COLUMNS.get(field.name)
        if column is None:
            raise SchemaError(
                f"column {field.name!r}: without the option 'format' the columns are "
                f"{', '.join(_READABLE_COLUMNS)}. Choose from these, or give a format, such as 'json'"
            )
        if not column.accepts(field.type):
            raise SchemaError(
                f"column {field.name!r} is {column.sql_type} without the option 'format', not {field.type}"
            )


def spark_kafka_columns(schema: pa.Schema, messages: Messages) -> Decoded:
    """Build those columns of the messages that a schema asks for, one row a message."""
    arrays = [_READABLE_COLUMNS[field.name].column(messages, field) for field in schema]
    return Decoded(pa.RecordBatch.from_arrays(arrays, schema=schema))
