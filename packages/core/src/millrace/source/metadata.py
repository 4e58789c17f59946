"""Metadata columns: what a message has beside its value, beside the columns of its format."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import SchemaError
from millrace.options.metadata import MetadataColumn
from millrace.source import columns
from millrace.source.fetch import Messages

COLUMNS = {
    "topic": columns.TOPIC,
    "partition": columns.PARTITION,
    "offset": columns.OFFSET,
    "timestamp": columns.RECORD_TIMESTAMP,
    "timestamp-type": columns.TIMESTAMP_NAME,
    "headers": columns.HEADERS_AS_MAP,
    "header-list": columns.HEADER_LIST,
    "leader-epoch": columns.LEADER_EPOCH,
    "__raw_key__": columns.KEY,
    "__raw_value__": columns.VALUE,
}


def metadata_fields(chosen: tuple[MetadataColumn, ...]) -> list[pa.Field]:
    """The fields of the chosen metadata columns."""
    return [pa.field(one.column, COLUMNS[one.key].type) for one in chosen]


def value_schema(schema: pa.Schema, chosen: tuple[MetadataColumn, ...]) -> pa.Schema:
    """What is left of a query's schema for the format.

    Raises:
        SchemaError: A metadata column is missing from the schema, or of another type.
    """
    for one in chosen:
        expected = COLUMNS[one.key]
        if one.column not in schema.names:
            raise SchemaError(
                f"option 'metadata.columns' names column {one.column!r}, which the schema lacks: add "
                f"{one.column} {expected.sql_type}"
            )
        kind = schema.field(one.column).type
        if not expected.accepts(kind):
            raise SchemaError(f"metadata column {one.column!r} ({one.key}) is {expected.sql_type}, not {kind}")
    taken = {one.column for one in chosen}
    return pa.schema([field for field in schema if field.name not in taken])


def with_metadata(
    schema: pa.Schema, chosen: tuple[MetadataColumn, ...], messages: Messages, decoded: Decoded
) -> pa.RecordBatch:
    """Decoded rows with the metadata of their messages, as the query's schema has them."""
    keys = {one.column: one.key for one in chosen}
    made = []
    for field in schema:
        if field.name in keys:
            column = COLUMNS[keys[field.name]].column(messages, field)
            made.append(column if decoded.message_index is None else column.take(decoded.message_index))
        else:
            made.append(decoded.rows.column(field.name))
    return pa.RecordBatch.from_arrays(made, schema=schema)
