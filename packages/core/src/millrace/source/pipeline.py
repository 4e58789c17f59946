"""The way of a record through an executor: fetch, filter, decode, as Arrow."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pyarrow as pa

from millrace.collector import no_garbage_collection
from millrace.configuration import SourceConfig
from millrace.contracts import Decoded, Decoder, HeaderFilter
from millrace.options import options_of
from millrace.options.metadata import MetadataColumn
from millrace.plugins.manager import PluginRef
from millrace.source.decode import checked, decode_values
from millrace.source.fetch import Messages, fetch
from millrace.source.header_filter import keep
from millrace.source.kafka_columns import check_kafka_schema, kafka_columns
from millrace.source.metadata import value_schema, with_metadata
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


def rows_for(config: SourceConfig, schema: pa.Schema) -> Callable[[Messages], pa.RecordBatch]:
    """What turns messages into rows; made on the driver to check the query's columns, then once per worker.

    Raises:
        SchemaError: The format or the metadata cannot give one of the columns.
    """
    return _rows_for(config.value_format, config.options.metadata, schema)


@functools.lru_cache(maxsize=16)
def _rows_for(
    value_format: PluginRef | None, metadata: tuple[MetadataColumn, ...], schema: pa.Schema
) -> Callable[[Messages], pa.RecordBatch]:
    values = value_schema(schema, metadata)
    if value_format is None:
        check_kafka_schema(values)
        decode = functools.partial(kafka_columns, values)
    else:
        decode = functools.partial(_decode, value_format, value_format.create().decoder(values), values)
    if not metadata:
        return lambda messages: decode(messages).rows
    return lambda messages: with_metadata(schema, metadata, messages, decode(messages))


def _decode(value_format: PluginRef, decoder: Decoder, schema: pa.Schema, messages: Messages) -> Decoded:
    decoded = decode_values(decoder, _advice(value_format), messages)
    return checked(decoded, schema, len(messages.items), value_format.name)


@functools.cache
def _advice(value_format: PluginRef) -> str:
    names = {info.name for info in options_of(type(value_format.options)).values()}
    lenient = "ignore-parse-errors"
    return f". To let such messages pass, set '{value_format.name}.{lenient}' to true" if lenient in names else ""


@functools.lru_cache(maxsize=16)
def _header_filter(ref: PluginRef | None) -> HeaderFilter | None:
    return None if ref is None else ref.create()
