"""Arrow columns of what a message has beside its decoded value: topic, offset, timestamp, headers and so on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_LOG_APPEND_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from millrace.contracts import HEADERS, is_headers
from millrace.records.messages import Messages, headers_column
from millrace.records.trace_context import traceparent_of

TIMESTAMP = pa.timestamp("us", tz="UTC")
HEADER_MAP = pa.map_(pa.string(), pa.binary())

_TIMESTAMP_TYPE_NUMBERS = {TIMESTAMP_NOT_AVAILABLE: -1, TIMESTAMP_CREATE_TIME: 0, TIMESTAMP_LOG_APPEND_TIME: 1}
_TIMESTAMP_TYPE_NAMES = {
    TIMESTAMP_NOT_AVAILABLE: "NoTimestampType",
    TIMESTAMP_CREATE_TIME: "CreateTime",
    TIMESTAMP_LOG_APPEND_TIME: "LogAppendTime",
}


@dataclass(frozen=True)
class MessageColumn:
    """A column that is built from messages as they are, without a format.

    Attributes:
        type: Its Arrow type.
        sql_type: The same type as Spark SQL writes it.
        build: Builds the column of some messages.
    """

    type: pa.DataType
    sql_type: str
    build: Callable[[Messages], pa.Array]

    def accepts(self, type_: pa.DataType) -> bool:
        """Return whether a column of the query may have this type, which may differ in what can be null inside."""
        return type_ == self.type or (self.type == HEADERS and is_headers(type_))

    def column(self, messages: Messages, field: pa.Field) -> pa.Array:
        """Return the column for a field of the query's schema; NULL, whatever that allows, where a message has none."""
        built = self.build(messages)
        # A cast takes as long as building a column of few messages; types that differ in names alone are equal
        is_same = built.type == field.type and not pt.is_nested(built.type)
        return built if is_same else built.cast(field.type)


def _payload_column(get: Callable[[Messages], Sequence[bytes | None]]) -> MessageColumn:
    return MessageColumn(pa.binary(), "BINARY", lambda messages: pa.array(get(messages), pa.binary()))


def _topic(messages: Messages) -> pa.Array:
    if messages.is_mixed:
        return pa.array(list(map(Message.topic, messages.items)), pa.string())
    return pa.repeat(pa.scalar(messages.partition.topic, pa.string()), len(messages.items))


def _partition(messages: Messages) -> pa.Array:
    if messages.is_mixed:
        return pa.array(list(map(Message.partition, messages.items)), pa.int32())
    return pa.repeat(pa.scalar(messages.partition.partition, pa.int32()), len(messages.items))


def _offset(messages: Messages) -> pa.Array:
    return pa.array(np.fromiter(map(Message.offset, messages.items), np.int64, len(messages.items)))


def _timestamp(messages: Messages) -> pa.Array:
    millis = np.array([message.timestamp()[1] for message in messages.items], np.int64)
    return pa.array(millis * 1000, TIMESTAMP, mask=millis < 0)


def _timestamp_type_number(messages: Messages) -> pa.Array:
    return pa.array([_TIMESTAMP_TYPE_NUMBERS[message.timestamp()[0]] for message in messages.items], pa.int32())


def _timestamp_type_name(messages: Messages) -> pa.Array:
    return pa.array([_TIMESTAMP_TYPE_NAMES[message.timestamp()[0]] for message in messages.items], pa.string())


def _header_map(messages: Messages) -> pa.Array:
    # The last one of repeated headers stays, as in any map that is filled in order
    return pa.array([list(dict(message.headers() or ()).items()) for message in messages.items], HEADER_MAP)


def _headers_or_null(messages: Messages) -> pa.Array:
    headers = headers_column(messages)
    return pc.if_else(pc.greater(pc.list_value_length(headers), 0), headers, pa.scalar(None, headers.type))


def _traceparent(messages: Messages) -> pa.Array:
    return pa.array(list(map(traceparent_of, messages.items)), pa.string())


def _leader_epoch(messages: Messages) -> pa.Array:
    epochs = [message.leader_epoch() for message in messages.items]
    return pa.array([None if epoch is None or epoch < 0 else epoch for epoch in epochs], pa.int32())


KEY = _payload_column(lambda messages: list(map(Message.key, messages.items)))
VALUE = _payload_column(Messages.values)
TOPIC = MessageColumn(pa.string(), "STRING", _topic)
PARTITION = MessageColumn(pa.int32(), "INT", _partition)
OFFSET = MessageColumn(pa.int64(), "BIGINT", _offset)
RECORD_TIMESTAMP = MessageColumn(TIMESTAMP, "TIMESTAMP", _timestamp)
TIMESTAMP_TYPE_NUMBER = MessageColumn(pa.int32(), "INT", _timestamp_type_number)
TIMESTAMP_TYPE_NAME = MessageColumn(pa.string(), "STRING", _timestamp_type_name)
HEADER_LIST = MessageColumn(HEADERS, "ARRAY<STRUCT<key: STRING, value: BINARY>>", headers_column)
HEADER_LIST_OR_NULL = MessageColumn(HEADERS, HEADER_LIST.sql_type, _headers_or_null)
HEADER_MAP_COLUMN = MessageColumn(HEADER_MAP, "MAP<STRING, BINARY>", _header_map)
TRACEPARENT = MessageColumn(pa.string(), "STRING", _traceparent)
LEADER_EPOCH = MessageColumn(pa.int32(), "INT", _leader_epoch)
