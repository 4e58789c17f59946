"""Metadata columns of a read: what a message has beside its value, next to the columns of its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import SchemaError
from millrace.options.metadata import SelectedMetadata, format_metadata_keys
from millrace.pyspark_internals import from_arrow_type
from millrace.records import message_columns as columns
from millrace.records.messages import Messages
from millrace.records.metadata_types import can_hold, cast_safely, describe_types

FormatMetadata = Mapping[str, pa.DataType]
"""The metadata that a format decodes beside its rows: types by keys, which options name after ``value.``."""

_RAW_KEY = "__raw_key__"

_COLUMNS = {
    "topic": columns.TOPIC,
    "partition": columns.PARTITION,
    "offset": columns.OFFSET,
    "timestamp": columns.RECORD_TIMESTAMP,
    "timestamp-type": columns.TIMESTAMP_TYPE_NAME,
    "headers": columns.HEADER_MAP_COLUMN,
    "header-list": columns.HEADER_LIST,
    "traceparent": columns.TRACEPARENT,
    "leader-epoch": columns.LEADER_EPOCH,
    _RAW_KEY: columns.KEY,
    "__raw_value__": columns.VALUE,
}


def metadata_fields(chosen: tuple[SelectedMetadata, ...], format_metadata: FormatMetadata) -> list[pa.Field]:
    """Return the fields of the chosen metadata columns.

    Args:
        chosen: Which metadata, and the names of its columns.
        format_metadata: The metadata that the format of values decodes.
    """
    return [pa.field(selected.column, _type_of(selected, format_metadata)) for selected in chosen]


def without_metadata(
    schema: pa.Schema, chosen: tuple[SelectedMetadata, ...], format_metadata: FormatMetadata
) -> pa.Schema:
    """Return a query's schema without its metadata columns, which is what formats decode.

    Args:
        schema: The query's columns.
        chosen: Which metadata is among them.
        format_metadata: The metadata that the format of values decodes.

    Raises:
        SchemaError: A metadata column is missing from the schema or unknown to the format, or of a type without a
            safe cast.
    """
    for selected in chosen:
        if selected.column not in schema.names:
            raise SchemaError(
                f"option 'metadata.columns' names column {selected.column!r}, which the schema lacks: add "
                f"{selected.column} {_sql_type(selected, format_metadata)}"
            )
        declared, metadata_type = schema.field(selected.column).type, _type_of(selected, format_metadata)
        if not can_hold(declared, metadata_type):
            expected = describe_types(metadata_type, _sql_type(selected, format_metadata))
            raise SchemaError(f"metadata column {selected.column!r} ({selected.key}) is {expected}, not {declared}")
    metadata_names = {selected.column for selected in chosen}
    return pa.schema([field for field in schema if field.name not in metadata_names])


class Misfit(NamedTuple):
    """A value that the type of its column cannot hold.

    Attributes:
        reason: What is wrong, in words.
        is_key: Whether the value is the message's key.
    """

    reason: str
    is_key: bool


class MetadataColumns(NamedTuple):
    """The metadata of decoded rows.

    Attributes:
        arrays: The columns by their names.
        misfits: The first value of a row that the type of its column cannot hold, by the number of the row.
    """

    arrays: dict[str, pa.Array]
    misfits: dict[int, Misfit]


def metadata_columns(
    schema: pa.Schema, chosen: tuple[SelectedMetadata, ...], messages: Messages, decoded: Decoded
) -> MetadataColumns:
    """Return the metadata of each decoded row, in the types that the query declares.

    Args:
        schema: The query's columns.
        chosen: Which metadata is among them.
        messages: The messages.
        decoded: Their decoded rows, with the metadata that the format decodes, each key once.
    """
    format_keys = format_metadata_keys(chosen)
    arrays, misfits = {}, dict[int, Misfit]()
    for selected in chosen:
        if selected.format_key is not None and decoded.metadata is not None:
            column = decoded.metadata.column(format_keys.index(selected.format_key))
        else:
            column = _COLUMNS[selected.key].build(messages)
            column = column if decoded.message_index is None else column.take(decoded.message_index)
        declared = schema.field(selected.column).type
        arrays[selected.column], rows = cast_safely(column, declared)
        reason = (
            f"its {selected.key} does not fit column {selected.column!r}, which is {_spark(declared)}" if rows else ""
        )
        for row in rows:
            misfits.setdefault(row, Misfit(reason, is_key=selected.key == _RAW_KEY))
    return MetadataColumns(arrays, misfits)


def _type_of(chosen: SelectedMetadata, format_metadata: FormatMetadata) -> pa.DataType:
    if chosen.format_key is None:
        return _COLUMNS[chosen.key].type
    if chosen.format_key not in format_metadata:
        known = ", ".join(f"value.{key}" for key in format_metadata) or "none"
        raise SchemaError(
            f"option 'metadata.columns' names {chosen.key!r}, which the format does not have; its metadata: {known}"
        )
    return format_metadata[chosen.format_key]


def _sql_type(chosen: SelectedMetadata, format_metadata: FormatMetadata) -> str:
    if chosen.format_key is None:
        return _COLUMNS[chosen.key].sql_type
    return _spark(format_metadata[chosen.format_key])


def _spark(type_: pa.DataType) -> str:
    return from_arrow_type(type_).simpleString().upper()
