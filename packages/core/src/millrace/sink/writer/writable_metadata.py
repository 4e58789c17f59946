"""Find the columns that hold a record's metadata: topic, partition, timestamp, headers, trace, key, value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import pyarrow as pa

from millrace.contracts import is_headers
from millrace.errors import SchemaError
from millrace.options.metadata import SelectedMetadata
from millrace.records.spark_kafka_columns import WRITABLE_SPARK_KAFKA_COLUMNS
from millrace.records.trace_context import TRACEPARENT

KEY, VALUE = "__raw_key__", "__raw_value__"


class WritableMetadata(NamedTuple):
    """A metadata key that can be written.

    Attributes:
        sql_type: The type of its column, as Spark SQL writes it.
        accepts: Tells whether a column of an Arrow type can hold it.
    """

    sql_type: str
    accepts: Callable[[pa.DataType], bool]


def _is_timestamp(kind: pa.DataType) -> bool:
    return pa.types.is_int64(kind) or (pa.types.is_timestamp(kind) and kind.tz is not None)


def _is_header_map(kind: pa.DataType) -> bool:
    return pa.types.is_map(kind) and (kind.key_type, kind.item_type) == (pa.string(), pa.binary())


_TEXT_OR_BYTES = WritableMetadata("STRING or BINARY", lambda kind: pa.types.is_string(kind) or pa.types.is_binary(kind))

WRITABLE = {
    "topic": WritableMetadata("STRING", pa.types.is_string),
    "partition": WritableMetadata("INT or another integer type", pa.types.is_integer),
    "timestamp": WritableMetadata("TIMESTAMP or BIGINT (ms since 1970)", _is_timestamp),
    "headers": WritableMetadata("MAP<STRING, BINARY>", _is_header_map),
    "header-list": WritableMetadata("ARRAY<STRUCT<key: STRING, value: BINARY>>", is_headers),
    TRACEPARENT: WritableMetadata("STRING", pa.types.is_string),
    KEY: _TEXT_OR_BYTES,
    VALUE: _TEXT_OR_BYTES,
}

_DECIDED_BY_KEY = {"topic", "partition"}


def named_metadata_columns(
    schema: pa.Schema, requested: Collection[SelectedMetadata], *, is_upsert: bool = False
) -> dict[str, str]:
    """Find the columns that the option ``metadata.columns`` names.

    Args:
        schema: The rows' columns.
        requested: The value of the option. Metadata that only a read has is ignored if the rows lack its column.
        is_upsert: Whether the topic is an upsert table, whose key decides where a record goes.

    Returns:
        The columns' names by metadata key.

    Raises:
        SchemaError: A column is missing, has the wrong type or cannot be written, or two have the same key.
    """
    columns: dict[str, str] = {}
    for key, column in requested:
        writable = None if is_upsert and key in _DECIDED_BY_KEY else WRITABLE.get(key)
        if writable is None:
            _refuse_read_only(schema, key, column)
        elif column not in schema.names:
            raise SchemaError(
                f"option 'metadata.columns' names column {column!r} ({key}), which the rows lack: add {column} "
                f"{writable.sql_type}, or leave it out of the option"
            )
        else:
            _check_type(writable, f"metadata column {column!r} ({key})", schema.field(column).type)
            _add(columns, key, column)
    return columns


def kafka_metadata_columns(schema: pa.Schema, named: Mapping[str, str]) -> dict[str, str]:
    """Find the columns of Spark's own Kafka connector, for a write without a format.

    Args:
        schema: The rows' columns.
        named: Those that the option ``metadata.columns`` names, by metadata key.

    Returns:
        All columns' names by metadata key, the named ones included.

    Raises:
        SchemaError: A column is unknown, has the wrong type or is missing, or two have the same key.
    """
    columns = dict(named)
    for field in schema:
        if field.name in named.values():
            continue
        key = WRITABLE_SPARK_KAFKA_COLUMNS.get(field.name)
        if key is None:
            raise SchemaError(
                f"column {field.name!r} cannot be written: without the option 'format' the columns are "
                f"{', '.join(WRITABLE_SPARK_KAFKA_COLUMNS)}. Give a format, such as 'json', or select these"
            )
        _check_type(WRITABLE[key], f"column {field.name!r}", field.type, " without the option 'format'")
        _add(columns, key, field.name)
    if VALUE not in columns:
        raise SchemaError("a column 'value' is required without the option 'format'")
    return columns


def _check_type(writable: WritableMetadata, column: str, kind: pa.DataType, condition: str = "") -> None:
    if not writable.accepts(kind):
        raise SchemaError(f"{column} must be {writable.sql_type}{condition}, not {kind}")


def _add(columns: dict[str, str], key: str, column: str) -> None:
    # Headers come as a map or as a list, not as both
    same = {"headers", "header-list"} if key in ("headers", "header-list") else {key}
    for other in same & columns.keys():
        raise SchemaError(
            f"columns {columns[other]!r} ({other}) and {column!r} ({key}) exclude each other: a record takes one of "
            f"them; drop the other column, or its entry in the option 'metadata.columns'"
        )
    columns[key] = column


def _refuse_read_only(schema: pa.Schema, key: str, column: str) -> None:
    if column in schema.names:
        reason = "which only a read has" if key.startswith("value.") else "since Kafka sets it"
        if key in _DECIDED_BY_KEY:
            reason = "since an upsert table has one topic, and the key of a row decides its partition"
        raise SchemaError(
            f"metadata column {column!r} ({key}) cannot be written, {reason}: drop the column, or its entry in the "
            f"option 'metadata.columns'"
        )
