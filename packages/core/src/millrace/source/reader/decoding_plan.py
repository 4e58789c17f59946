"""Make the record batch builder of a read from its options and columns."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.contracts import ChangelogFormat, Decoded, Decoder
from millrace.errors import PluginError, SchemaError
from millrace.options.metadata import format_metadata_keys
from millrace.plugins.manager import PluginRef
from millrace.records.key_bytes import check_key_types
from millrace.records.key_value_projection import ColumnProjection, KeyValueProjection, divide_columns
from millrace.records.messages import Messages
from millrace.records.metadata_columns import without_metadata
from millrace.records.row_kinds import without_row_kind_column
from millrace.records.spark_kafka_columns import check_spark_kafka_schema, spark_kafka_columns
from millrace.source.reader.decode import decode, in_time_zone
from millrace.source.reader.key_decoder import KeyDecoder
from millrace.source.reader.primary_key import PrimaryKeyDecoder
from millrace.source.reader.record_batch_builder import RecordBatchBuilder


@functools.lru_cache(maxsize=16)
def record_batch_builder_for(config: SourceConfig, schema: pa.Schema, zone: str = "UTC") -> RecordBatchBuilder:
    """Return the builder of a read; the driver creates one to check the query's columns, then each worker its own.

    Args:
        config: How to read.
        schema: The query's columns.
        zone: The time zone of text that has none.

    Raises:
        SchemaError: A format or the metadata cannot give one of the columns.
    """
    options = config.options
    if config.value_format is None:
        columns = without_metadata(schema, options.metadata, {})
        check_spark_kafka_schema(columns)
        return RecordBatchBuilder(schema, functools.partial(spark_kafka_columns, columns), options.metadata)
    values = _value_decoding(config, config.value_format, schema, zone)
    keys = _key_decoder(config.key_format, values.projection, zone)
    return RecordBatchBuilder(
        schema,
        values.decode,
        options.metadata,
        config.value_format,
        values.projection.value,
        None if values.metadata_keys is None and not options.is_upsert else options.row_kind_column,
        # A table's keys are decoded to know its rows
        None if keys is None or (options.is_upsert and not keys.columns) else keys,
    )


@functools.lru_cache(maxsize=16)
def primary_key_decoder_for(config: SourceConfig, schema: pa.Schema, zone: str = "UTC") -> PrimaryKeyDecoder:
    """Return the decoder of the primary keys of a table; called as `record_batch_builder_for`.

    Raises:
        SchemaError: The columns of the key cannot be decoded, or cannot be compared.
        PluginError: There is no format of keys or values.
    """
    if config.value_format is None or config.key_format is None:
        raise PluginError("a table with a primary key needs the formats of its keys and values")
    projection = _value_decoding(config, config.value_format, schema, zone).projection
    keys = _key_decoder(config.key_format, projection, zone)
    if projection.key is None or keys is None:
        raise PluginError("a table with a primary key needs the columns of its key")
    return PrimaryKeyDecoder(keys, projection.key)


def check_table_columns(config: SourceConfig, schema: pa.Schema) -> None:
    """Check the columns of a table with a primary key, on the driver; of another read there is nothing to check.

    Raises:
        SchemaError: Keys cannot be decoded or compared, or a deleted row cannot have a column.
    """
    options = config.options
    for name in options.primary_key:
        if name not in schema.names:
            known = ", ".join(column for column in schema.names if column != options.row_kind_column)
            raise SchemaError(f"option 'changelog.primary-key': there is no column {name!r}; the columns are {known}")
    check_key_types(pa.schema([schema.field(name) for name in options.primary_key]))
    if not options.is_upsert:
        return
    key_columns = primary_key_decoder_for(config, schema).columns
    if options.changelog_mode == "upsert":
        metadata = {one.column for one in options.metadata}
        for field in schema:
            if not field.nullable and field.name not in {*key_columns, *metadata, options.row_kind_column}:
                raise SchemaError(
                    f"column {field.name!r} is NOT NULL, and with 'changelog.mode' = 'upsert' a deleted row has the "
                    f"columns of its key only: let the column be NULL, or leave the option out"
                )


def explain_decoding(config: SourceConfig, schema: pa.Schema) -> dict[str, str]:
    """Explain how messages become rows of a schema, for ``value`` and, with a format of keys, for ``key``.

    Raises:
        SchemaError: As `record_batch_builder_for`.
    """
    record_batch_builder_for(config, schema)
    if config.value_format is None:
        return {"value": "no format: the columns are made of many messages at once"}
    values = _value_decoding(config, config.value_format, schema, "UTC")
    explanations = {"value": f"{config.value_format.name}: {values.decoder.explain()}"}
    keys = _key_decoder(config.key_format, values.projection, "UTC")
    return explanations if keys is None else {"key": f"{keys.format.name}: {keys.explain()}", **explanations}


class _ValueDecoding(NamedTuple):
    """Decode the values of messages.

    Attributes:
        format_name: The name of their format.
        decoder: Decodes their payloads.
        projection: The columns of keys and values.
        metadata_keys: The metadata that a changelog format decodes; None for another format.
        schema_header: The header that may tell the schema of a value; None if there is none.
    """

    format_name: str
    decoder: Decoder
    projection: KeyValueProjection
    metadata_keys: Sequence[str] | None
    schema_header: str | None

    def decode(self, messages: Messages) -> Decoded:
        values = messages.values_with_schemas(self.schema_header)
        return decode(self.decoder, values, self.projection.value.schema, self.format_name, self.metadata_keys)


def _value_decoding(config: SourceConfig, value_format: PluginRef, schema: pa.Schema, zone: str) -> _ValueDecoding:
    options, format_ = config.options, value_format.create()
    header = format_.schema_header(is_key=False)
    if not isinstance(format_, ChangelogFormat):
        columns = without_metadata(schema, options.metadata, {})
        if options.is_upsert:
            columns = without_row_kind_column(columns, options.row_kind_column, "connector 'upsert-kafka'")
        projection = divide_columns(columns, options)
        decoder = format_.decoder(in_time_zone(projection.value.schema, zone))
        return _ValueDecoding(value_format.name, decoder, projection, None, header)
    columns = without_metadata(schema, options.metadata, format_.metadata())
    columns = without_row_kind_column(columns, options.row_kind_column, f"format {value_format.name!r}")
    projection, metadata_keys = divide_columns(columns, options), format_metadata_keys(options.metadata)
    decoder = format_.decoder(in_time_zone(projection.value.schema, zone), metadata_keys)
    return _ValueDecoding(value_format.name, decoder, projection, metadata_keys, header)


def _key_decoder(key_format: PluginRef | None, projection: KeyValueProjection, zone: str) -> KeyDecoder | None:
    if key_format is None or projection.key is None:
        return None
    return KeyDecoder(key_format, projection.key, _key_only_columns(projection.key, projection.value), zone)


def _key_only_columns(key: ColumnProjection, value: ColumnProjection) -> set[str]:
    return set(key.columns) - set(value.columns)
