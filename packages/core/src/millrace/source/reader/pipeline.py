"""The way of a record through an executor: fetch, filter, decode, as Arrow."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import pyarrow as pa
from confluent_kafka import Message

from millrace.configuration import SourceConfig
from millrace.contracts import ChangelogFormat, Decoded, Decoder, HeaderFilter
from millrace.gc_control import no_garbage_collection
from millrace.options.metadata import format_metadata_keys
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import Parts, divide
from millrace.records.messages import Messages
from millrace.source.enumerator.splits import Split
from millrace.source.reader.decode import decode
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.fetch import fetch
from millrace.source.reader.header_filter import keep
from millrace.source.reader.kafka_columns import check_kafka_schema, kafka_columns
from millrace.source.reader.key_decoder import Keys
from millrace.source.reader.metadata_columns import value_schema
from millrace.source.reader.record_batch_builder import RecordBatchBuilder
from millrace.source.reader.row_kinds import without_row_kinds
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.reader.time_zone import in_zone


def read(
    config: SourceConfig, schema: pa.Schema, zone: str, split: Split, tally: SplitMetrics, dirty: ErrorPolicy
) -> Iterator[pa.RecordBatch]:
    """The rows of a split, in batches of exactly ``schema``.

    Args:
        config: How to read.
        schema: The query's columns.
        zone: The time zone of text that has none.
        split: What to read.
        tally: Where to count what was read.
        dirty: What becomes of malformed messages.

    Raises:
        DataLossError, ClientError: As `fetch`.
        MessageError, DeliveryError: As `ErrorPolicy`.
    """
    header_filter = _header_filter(config.header_filter)
    to_rows = rows_for(config, schema, zone)
    with no_garbage_collection():
        for fetched in fetch(config.client, split, tally, fail_on_data_loss=config.options.fail_on_data_loss):
            kept = keep(header_filter, fetched)
            if kept.items:
                rows = to_rows(kept)
                if rows.bad:
                    dirty.take(kept, rows.bad)
                tally.emitted(kept.partition, kept.items[-1])
                yield rows.batch
        dirty.finish()


@functools.lru_cache(maxsize=16)
def rows_for(config: SourceConfig, schema: pa.Schema, zone: str = "UTC") -> RecordBatchBuilder:
    """What turns messages into rows; made on the driver to check the query's columns, then once per worker.

    Args:
        config: How to read.
        schema: The query's columns.
        zone: The time zone of text that has none.

    Raises:
        SchemaError: A format or the metadata cannot give one of the columns.
    """
    value_format, options = config.value_format, config.options
    if value_format is None:
        values = value_schema(schema, options.metadata, {})
        check_kafka_schema(values)
        return RecordBatchBuilder(schema, functools.partial(kafka_columns, values), options.metadata)
    parts, decoder, told = _decoder(config, value_format, schema, zone)
    values_of = functools.partial(_values, decoder, parts.value.schema, value_format.name, told)
    kinds = None if told is None else options.row_kind_column
    keys = _keys(config.key_format, parts, zone)
    return RecordBatchBuilder(schema, values_of, options.metadata, value_format, parts.value, kinds, keys)


def explain(config: SourceConfig, schema: pa.Schema) -> dict[str, str]:
    """How messages become rows of a schema, in words: for ``value`` and, with a format of keys, for ``key``.

    Raises:
        SchemaError: As `rows_for`.
    """
    rows_for(config, schema)
    if config.value_format is None:
        return {"value": "no format: the columns are made of many messages at once"}
    parts, decoder, _ = _decoder(config, config.value_format, schema, "UTC")
    found = {"value": f"{config.value_format.name}: {decoder.explain()}"}
    keys = _keys(config.key_format, parts, "UTC")
    return found if keys is None else {"key": f"{keys.format.name}: {keys.explain()}", **found}


def _decoder(
    config: SourceConfig, value_format: PluginRef, schema: pa.Schema, zone: str
) -> tuple[Parts, Decoder, list[str] | None]:
    """The columns of keys and values, the decoder of values, and of changes the metadata that it tells."""
    options, made = config.options, value_format.create()
    if not isinstance(made, ChangelogFormat):
        parts = divide(value_schema(schema, options.metadata, {}), options)
        return parts, made.decoder(in_zone(parts.value.schema, zone)), None
    beside = value_schema(schema, options.metadata, made.metadata())
    told = list(format_metadata_keys(options.metadata))
    parts = divide(without_row_kinds(beside, options.row_kind_column, value_format.name), options)
    return parts, made.decoder(in_zone(parts.value.schema, zone), told), told


def _values(decoder: Decoder, schema: pa.Schema, name: str, told: Sequence[str] | None, messages: Messages) -> Decoded:
    return decode(decoder, list(map(Message.value, messages.items)), schema, name, told)


def _keys(key_format: PluginRef | None, parts: Parts, zone: str) -> Keys | None:
    if key_format is None or parts.key is None:
        return None
    return Keys(key_format, parts.key, set(parts.key.columns) - set(parts.value.columns), zone)


@functools.lru_cache(maxsize=16)
def _header_filter(ref: PluginRef | None) -> HeaderFilter | None:
    return None if ref is None else ref.create()
