"""The way of a record through an executor: fetch, filter, decode, as Arrow."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pyarrow as pa

from millrace.collector import no_garbage_collection
from millrace.configuration import SourceConfig
from millrace.configuration.parts import Part, Parts, divide
from millrace.contracts import ChangelogFormat, Decoded, Decoder, HeaderFilter
from millrace.options import options_of
from millrace.options.metadata import MetadataColumn, keys_of_value
from millrace.plugins.manager import PluginRef
from millrace.source.decode import checked, decode_values
from millrace.source.fetch import Messages, fetch
from millrace.source.header_filter import keep
from millrace.source.kafka_columns import check_kafka_schema, kafka_columns
from millrace.source.keys import Keys
from millrace.source.metadata import metadata_columns, value_schema
from millrace.source.row_kinds import row_kinds, without_row_kinds
from millrace.source.splits import Split
from millrace.source.tally import Tally


def read(config: SourceConfig, schema: pa.Schema, split: Split, tally: Tally) -> Iterator[pa.RecordBatch]:
    """The rows of a split, in batches of exactly ``schema``.

    Args:
        config: How to read.
        schema: The query's columns.
        split: What to read.
        tally: Where to count what was read.

    Raises:
        DataLossError, ClientError: As `fetch`.
        MessageError: A message is malformed.
    """
    header_filter = _header_filter(config.header_filter)
    to_rows = rows_for(config, schema)
    with no_garbage_collection():
        for fetched in fetch(config.client, split, tally, fail_on_data_loss=config.options.fail_on_data_loss):
            kept = keep(header_filter, fetched)
            if kept.items:
                rows = to_rows(kept)
                tally.emitted(kept.partition, kept.items[-1])
                yield rows


@functools.lru_cache(maxsize=16)
def rows_for(config: SourceConfig, schema: pa.Schema) -> Callable[[Messages], pa.RecordBatch]:
    """What turns messages into rows; made on the driver to check the query's columns, then once per worker.

    Raises:
        SchemaError: A format or the metadata cannot give one of the columns.
    """
    value_format, options = config.value_format, config.options
    if value_format is None:
        values = value_schema(schema, options.metadata, {})
        check_kafka_schema(values)
        return _completed(functools.partial(kafka_columns, values), schema, options.metadata)
    made = value_format.create()
    if not isinstance(made, ChangelogFormat):
        parts, told, kinds = divide(value_schema(schema, options.metadata, {}), options), None, None
        decoder = made.decoder(parts.value.schema)
    else:
        beside = value_schema(schema, options.metadata, made.metadata())
        kinds, told = options.row_kind_column, keys_of_value(options.metadata)
        parts = divide(without_row_kinds(beside, kinds, value_format.name), options)
        decoder = made.decoder(parts.value.schema, told)
    decode = functools.partial(_decode, value_format, decoder, parts.value.schema, told)
    return _completed(decode, schema, options.metadata, kinds, parts.value, _keys(config.key_format, parts))


def _completed(
    decode: Callable[[Messages], Decoded],
    schema: pa.Schema,
    metadata: tuple[MetadataColumn, ...],
    row_kind_column: str | None = None,
    value: Part | None = None,
    keys: Keys | None = None,
) -> Callable[[Messages], pa.RecordBatch]:
    """Rows as the query's schema has them: what is decoded, its metadata, its row kinds, and what keys say."""
    if not metadata and row_kind_column is None and keys is None and (value is None or value.schema == schema):
        return lambda messages: decode(messages).rows
    places = {name: index for index, name in enumerate(value.columns)} if value is not None else {}

    def complete(messages: Messages) -> pa.RecordBatch:
        decoded_keys = None if keys is None else keys.decode(messages)
        decoded = decode(messages)
        beside = metadata_columns(schema, metadata, messages, decoded)
        if row_kind_column is not None:
            beside[row_kind_column] = row_kinds(decoded)
        if keys is not None and decoded_keys is not None:
            beside |= keys.columns(decoded_keys, messages, decoded, schema)
        made = [
            beside[name] if name in beside else decoded.rows.column(places.get(name, name)) for name in schema.names
        ]
        return pa.RecordBatch.from_arrays(made, schema=schema)

    return complete


def _keys(key_format: PluginRef | None, parts: Parts) -> Keys | None:
    if key_format is None or parts.key is None:
        return None
    shown = set(parts.key.columns) - set(parts.value.columns)
    return Keys(key_format, parts.key, shown, _advice(key_format, "key."))


def _decode(
    value_format: PluginRef, decoder: Decoder, schema: pa.Schema, told: list[str] | None, messages: Messages
) -> Decoded:
    decoded = decode_values(decoder, _advice(value_format, ""), messages)
    return checked(decoded, schema, len(messages.items), value_format.name, told)


@functools.cache
def _advice(format_: PluginRef, side: str) -> str:
    names = {info.name for info in options_of(type(format_.options)).values()}
    lenient = "ignore-parse-errors"
    return f". To let such messages pass, set '{side}{format_.name}.{lenient}' to true" if lenient in names else ""


@functools.lru_cache(maxsize=16)
def _header_filter(ref: PluginRef | None) -> HeaderFilter | None:
    return None if ref is None else ref.create()
