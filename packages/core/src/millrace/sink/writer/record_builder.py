"""Build Kafka records from rows: serialize values and keys, then add headers, partitions and timestamps."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from millrace.configuration import SinkConfig
from millrace.contracts import HEADERS, ChangelogFormat, Format, Payloads
from millrace.errors import MessageError, SchemaError
from millrace.options.connector import SinkOptions
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import ColumnProjection, divide_columns
from millrace.records.producer_records import Headers, ProducerRecords
from millrace.records.row_kinds import check_row_kind_column
from millrace.records.trace_context import EXPECTED, TRACEPARENT, is_traceparent
from millrace.sink.writer.payload_serializers import (
    ColumnSerializer,
    FormatSerializer,
    PayloadSerializer,
    UpsertSerializer,
)
from millrace.sink.writer.topic_routing import TopicRouter, TopicRows, topic_router
from millrace.sink.writer.writable_metadata import KEY, VALUE, kafka_metadata_columns, named_metadata_columns


@functools.lru_cache(maxsize=16)
def record_builder_for(config: SinkConfig, schema: pa.Schema) -> RecordBuilder:
    """Plan how rows become records: on the driver to check their columns, then once in each worker.

    Args:
        config: The sink's configuration.
        schema: The rows' columns.

    Raises:
        SchemaError: The rows cannot be written.
        OptionsError: Neither an option nor a column names a topic.
    """
    options, has_format = config.options, config.value_format is not None
    named = named_metadata_columns(schema, options.metadata, is_upsert=options.is_upsert)
    metadata = named if has_format else kafka_metadata_columns(schema, named)
    # As in Spark's own connector, one topic wins over a column that 'metadata.columns' does not name
    topic_column = named.get("topic") if len(options.topics) == 1 else metadata.get("topic")
    route = topic_router(options, topic_column, has_format=has_format)
    values, keys = _serializers(config, schema, metadata)
    return RecordBuilder(route, values, keys, metadata)


@dataclass(frozen=True)
class RecordBuilder:
    """Turn batches of rows into records.

    Attributes:
        route: Divides the rows of a batch among topics.
        values: Serializes the records' values.
        keys: Serializes their keys; None for records without keys.
        metadata: The columns that hold headers, partitions and timestamps, by their metadata keys.
    """

    route: TopicRouter
    values: PayloadSerializer
    keys: PayloadSerializer | None
    metadata: Mapping[str, str]

    @property
    def has_headers_or_timestamps(self) -> bool:
        """True if rows give their records headers or timestamps."""
        return not self.metadata.keys().isdisjoint({"headers", "header-list", TRACEPARENT, "timestamp"})

    def build(self, rows: pa.RecordBatch, serialized_keys: Payloads | None = None) -> Iterator[ProducerRecords]:
        """Build the records of a batch, topic by topic.

        Args:
            rows: The batch.
            serialized_keys: The keys of its rows, all of which go to one topic; None to serialize them.

        Raises:
            MessageError: A row names a topic that is not permitted, a value cannot be serialized, a header has no key,
                or Kafka's client does not accept a timestamp.
            PluginError: A format does not give one payload for each row.
        """
        topics = list(self.route(rows))
        values = self.values.serialize(rows, topics)
        keys: Iterable[Payloads | None] = repeat(serialized_keys, len(topics))
        if serialized_keys is None and self.keys is not None:
            keys = self.keys.serialize(rows, topics)
        for topic_rows, topic_values, topic_keys in zip(topics, values, keys, strict=True):
            yield ProducerRecords(
                topic_rows.topic,
                topic_values,
                keys=topic_keys,
                headers=self._headers(rows, topic_rows),
                partitions=self._column("partition", rows, topic_rows),
                timestamps=self._timestamps(rows, topic_rows),
                partition_column=self.metadata.get("partition", "partition"),
            )

    def _headers(self, rows: pa.RecordBatch, topic_rows: TopicRows) -> list[Headers] | None:
        key = "headers" if "headers" in self.metadata else "header-list"
        column = self._column(key, rows, topic_rows)
        headers = None if column is None else _headers_of_column(column, self.metadata[key])
        traces = self._column(TRACEPARENT, rows, topic_rows)
        return headers if traces is None else _with_traces(headers, traces, self.metadata[TRACEPARENT])

    def _timestamps(self, rows: pa.RecordBatch, topic_rows: TopicRows) -> pa.Int64Array | None:
        column = self._column("timestamp", rows, topic_rows)
        return None if column is None else _timestamps_in_ms(column, self.metadata["timestamp"])

    def _column(self, key: str, rows: pa.RecordBatch, topic_rows: TopicRows) -> pa.Array | None:
        name = self.metadata.get(key)
        return None if name is None else topic_rows.take_from(rows.column(name))


def _serializers(
    config: SinkConfig, schema: pa.Schema, metadata: Mapping[str, str]
) -> tuple[PayloadSerializer, PayloadSerializer | None]:
    """Plan how values and keys are serialized from the columns that are not metadata.

    Raises:
        SchemaError: A format cannot write its columns, no column is left for it, or one is left that nothing writes.
    """
    remaining = pa.schema([field for field in schema if field.name not in metadata.values()])
    keys: PayloadSerializer | None = ColumnSerializer(metadata[KEY]) if KEY in metadata else None
    if config.value_format is None:
        return _whole_value(metadata[VALUE], remaining.names), keys
    value_format: Format = config.value_format.create()
    row_kind_column = None
    if isinstance(value_format, ChangelogFormat) or config.options.is_upsert:
        row_kind_column = row_kind_column_of(remaining, config.options)
    parts = divide_columns(pa.schema([field for field in remaining if field.name != row_kind_column]), config.options)
    if config.key_format is not None and parts.key is not None:
        keys = _key_serializer(config.key_format, parts.key, metadata)
    if VALUE in metadata:
        values: PayloadSerializer = _whole_value(metadata[VALUE], parts.value.columns)
    elif not parts.value.columns:
        raise SchemaError(_no_value_columns(config.value_format.name, row_kind_column, parts.key is not None))
    else:
        encoded_kinds = None if config.options.is_upsert else row_kind_column
        values = FormatSerializer(config.value_format, value_format, parts.value, encoded_kinds)
    return UpsertSerializer(values, row_kind_column) if config.options.is_upsert else values, keys


def row_kind_column_of(schema: pa.Schema, options: SinkOptions) -> str | None:
    """Return the column of row kinds; None when the rows lack it, so that all are inserted.

    Raises:
        SchemaError: It is not STRING.
    """
    if options.row_kind_column not in schema.names:
        return None
    check_row_kind_column(schema, options.row_kind_column)
    return options.row_kind_column


def _key_serializer(key_format: PluginRef, part: ColumnProjection, metadata: Mapping[str, str]) -> PayloadSerializer:
    if KEY in metadata:
        raise SchemaError(
            f"metadata column {metadata[KEY]!r} ({KEY}) is the whole key, which option 'key.format' makes of "
            f"{', '.join(part.columns)}: drop the option, or the entry of {KEY} in the option 'metadata.columns'"
        )
    return FormatSerializer(key_format, key_format.create(), part, is_key=True)


def _whole_value(column: str, other_columns: Collection[str]) -> PayloadSerializer:
    if other_columns:
        raise SchemaError(
            f"metadata column {column!r} ({VALUE}) is the whole value, so no other column can be written: drop "
            f"{', '.join(other_columns)}, or the entry of {VALUE} in the option 'metadata.columns'"
        )
    return ColumnSerializer(column)


def _no_value_columns(name: str, row_kind_column: str | None, has_key_format: bool) -> str:
    options = "the options 'metadata.columns' and 'key.fields'" if has_key_format else "the option 'metadata.columns'"
    row_kinds = "" if row_kind_column is None else f" or are the row kinds ({row_kind_column})"
    return (
        f"no column is left for format {name!r}: all are named in {options}{row_kinds}. Add columns for the value, or "
        f"name one that is the whole value, as {VALUE} AS value"
    )


def _headers_of_column(column: pa.Array, name: str) -> list[Headers]:
    lists = column.cast(HEADERS)
    entries = lists.flatten()
    keys = pc.struct_field(entries, "key")
    if keys.null_count:
        raise MessageError(f"column {name!r} has a header without a key; every header needs one")
    pairs = list(zip(_python_values(keys), _python_values(pc.struct_field(entries, "value")), strict=True))
    ends = np.cumsum(pc.list_value_length(lists).fill_null(0).to_numpy()).tolist()
    return [pairs[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _with_traces(headers: list[Headers] | None, traces: pa.StringArray, column: str) -> list[Headers]:
    """Return the headers of records, with that of their trace in place of others of its name."""
    texts = traces.to_pylist()
    for row, text in enumerate(texts):
        if text is not None and not is_traceparent(text):
            raise MessageError(
                f"column {column!r}, row {row}: {text!r} is no value of the header {TRACEPARENT!r}, such as "
                f"{EXPECTED}; a record whose trace is NULL gets none"
            )
    return [
        record_headers
        if text is None
        else [*(header for header in record_headers if header[0] != TRACEPARENT), (TRACEPARENT, text.encode())]
        for record_headers, text in zip(headers or [[]] * len(texts), texts, strict=True)
    ]


def _python_values(array: pa.Array) -> Sequence[Any]:
    # to_pylist creates a scalar object for each value and is many times slower
    values: Sequence[Any] = array.to_numpy(zero_copy_only=False).tolist()
    return values


def _timestamps_in_ms(column: pa.Array, name: str) -> pa.Int64Array:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
    earliest = pc.min(column).as_py()
    if earliest is not None and earliest <= 0:
        raise MessageError(
            f"column {name!r} has the timestamp {earliest} (ms since 1970 UTC), but a record's timestamp must be above "
            f"0; a record whose timestamp is NULL gets the time of writing"
        )
    return column
