"""Metadata columns: what a message has beside its value, beside the columns of its format."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import SchemaError
from millrace.options.metadata import MetadataColumn, format_metadata_keys
from millrace.records import message_columns as columns
from millrace.records.messages import Messages

Told = Mapping[str, pa.DataType]
"""What a format tells of a message beside its rows: types by keys, which options name after ``value.``."""

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


def metadata_fields(chosen: tuple[MetadataColumn, ...], told: Told) -> list[pa.Field]:
    """The fields of the chosen metadata columns.

    Args:
        chosen: Which ones, and their columns.
        told: What the format of values tells.
    """
    return [pa.field(one.column, _type_of(one, told)) for one in chosen]


def value_schema(schema: pa.Schema, chosen: tuple[MetadataColumn, ...], told: Told) -> pa.Schema:
    """What is left of a query's schema for the format.

    Args:
        schema: The query's columns.
        chosen: Which metadata is among them.
        told: What the format of values tells.

    Raises:
        SchemaError: A metadata column is missing from the schema, or of another type.
    """
    for one in chosen:
        if one.column not in schema.names:
            raise SchemaError(
                f"option 'metadata.columns' names column {one.column!r}, which the schema lacks: add "
                f"{one.column} {_sql_type(one, told)}"
            )
        kind = schema.field(one.column).type
        if not _accepts(one, told, kind):
            raise SchemaError(f"metadata column {one.column!r} ({one.key}) is {_sql_type(one, told)}, not {kind}")
    taken = {one.column for one in chosen}
    return pa.schema([field for field in schema if field.name not in taken])


def metadata_columns(
    schema: pa.Schema, chosen: tuple[MetadataColumn, ...], messages: Messages, decoded: Decoded
) -> dict[str, pa.Array]:
    """The metadata of each decoded row, by the names of its columns.

    Args:
        schema: The query's columns.
        chosen: Which metadata is among them.
        messages: The messages.
        decoded: What they were decoded to, with what the format tells as its columns, each once.
    """
    keys = format_metadata_keys(chosen)
    made = {}
    for one in chosen:
        field = schema.field(one.column)
        if one.format_key is not None and decoded.metadata is not None:
            made[one.column] = decoded.metadata.column(keys.index(one.format_key)).cast(field.type)
        else:
            column = COLUMNS[one.key].column(messages, field)
            made[one.column] = column if decoded.message_index is None else column.take(decoded.message_index)
    return made


def _type_of(one: MetadataColumn, told: Told) -> pa.DataType:
    return COLUMNS[one.key].type if one.format_key is None else told[one.format_key]


def _accepts(one: MetadataColumn, told: Told, kind: pa.DataType) -> bool:
    return COLUMNS[one.key].accepts(kind) if one.format_key is None else kind == told[one.format_key]


def _sql_type(one: MetadataColumn, told: Told) -> str:
    if one.format_key is None:
        return COLUMNS[one.key].sql_type
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(told[one.format_key]).simpleString().upper()
