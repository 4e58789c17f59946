"""The columns of Spark's own Kafka connector, for reads without a format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from millrace.contracts import HEADERS, is_headers
from millrace.errors import SchemaError
from millrace.source.fetch import Messages
from millrace.source.header_filter import headers_of

_TIMESTAMP_TYPE = {TIMESTAMP_NOT_AVAILABLE: -1, TIMESTAMP_LOG_APPEND_TIME: 1}
_CREATE_TIME = 0

_TYPES = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestampType": pa.int32(),
    "headers": HEADERS,
}


def kafka_schema(*, include_headers: bool) -> pa.Schema:
    """The columns key, value, topic, partition, offset, timestamp, timestampType and, when asked for, headers."""
    return pa.schema([(name, kind) for name, kind in _TYPES.items() if include_headers or name != "headers"])


def check_kafka_schema(schema: pa.Schema) -> None:
    """Refuse a schema with other columns than Spark's own connector has; any choice of them is welcome.

    Raises:
        SchemaError: A column is unknown or of another type.
    """
    for field in schema:
        expected = _TYPES.get(field.name)
        if expected is None:
            raise SchemaError(
                f"column {field.name!r}: without the option 'format' the columns are {', '.join(_TYPES)}. Choose from "
                f"these, or give a format, such as 'json'"
            )
        if field.type != expected and not (expected == HEADERS and is_headers(field.type)):
            raise SchemaError(f"column {field.name!r} is {expected} without the option 'format', not {field.type}")


def kafka_columns(messages: Messages, schema: pa.Schema) -> pa.RecordBatch:
    """Those columns of the messages that a schema asks for."""
    columns = [_COLUMNS[field.name](messages).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _payloads(get: Callable[[Message], bytes | None]) -> Callable[[Messages], pa.Array]:
    return lambda messages: pa.array(list(map(get, messages.items)), pa.binary())


def _topic(messages: Messages) -> pa.Array:
    return pa.repeat(pa.scalar(messages.partition.topic, pa.string()), len(messages.items))


def _partition(messages: Messages) -> pa.Array:
    return pa.repeat(pa.scalar(messages.partition.partition, pa.int32()), len(messages.items))


def _offset(messages: Messages) -> pa.Array:
    return pa.array(np.fromiter(map(Message.offset, messages.items), np.int64, len(messages.items)))


def _timestamp(messages: Messages) -> pa.Array:
    millis = np.array([message.timestamp()[1] for message in messages.items], np.int64)
    return pa.array(millis * 1000, pa.timestamp("us", tz="UTC"), mask=millis < 0)


def _timestamp_type(messages: Messages) -> pa.Array:
    kinds = [_TIMESTAMP_TYPE.get(message.timestamp()[0], _CREATE_TIME) for message in messages.items]
    return pa.array(kinds, pa.int32())


_COLUMNS: dict[str, Callable[[Messages], pa.Array]] = {
    "key": _payloads(Message.key),
    "value": _payloads(Message.value),
    "topic": _topic,
    "partition": _partition,
    "offset": _offset,
    "timestamp": _timestamp,
    "timestampType": _timestamp_type,
    "headers": headers_of,
}
