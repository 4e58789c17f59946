"""The way of a record through an executor: fetch, filter, decode, as Arrow."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import pyarrow as pa
from confluent_kafka import Message

from millrace.collector import no_garbage_collection
from millrace.configuration import SourceConfig
from millrace.configuration.parts import Parts, divide
from millrace.contracts import ChangelogFormat, Decoded, Decoder, HeaderFilter
from millrace.options.metadata import keys_of_value
from millrace.plugins.manager import PluginRef
from millrace.source.decode import decode
from millrace.source.dirty import DirtyData
from millrace.source.fetch import Messages, fetch
from millrace.source.header_filter import keep
from millrace.source.kafka_columns import check_kafka_schema, kafka_columns
from millrace.source.keys import Keys
from millrace.source.metadata import value_schema
from millrace.source.row_kinds import without_row_kinds
from millrace.source.rows import RowMaker
from millrace.source.splits import Split
from millrace.source.tally import Tally
from millrace.source.time_zone import in_zone


def read(
    config: SourceConfig, schema: pa.Schema, zone: str, split: Split, tally: Tally, dirty: DirtyData
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
        MessageError, DeliveryError: As `DirtyData`.
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
def rows_for(config: SourceConfig, schema: pa.Schema, zone: str = "UTC") -> RowMaker:
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
        return RowMaker(schema, functools.partial(kafka_columns, values), options.metadata)
    made = value_format.create()
    if not isinstance(made, ChangelogFormat):
        parts, told, kinds = divide(value_schema(schema, options.metadata, {}), options), None, None
        decoder = made.decoder(in_zone(parts.value.schema, zone))
    else:
        beside = value_schema(schema, options.metadata, made.metadata())
        kinds, told = options.row_kind_column, keys_of_value(options.metadata)
        parts = divide(without_row_kinds(beside, kinds, value_format.name), options)
        decoder = made.decoder(in_zone(parts.value.schema, zone), told)
    values_of = functools.partial(_values, decoder, parts.value.schema, value_format.name, told)
    keys = _keys(config.key_format, parts, zone)
    return RowMaker(schema, values_of, options.metadata, value_format, parts.value, kinds, keys)


def _values(decoder: Decoder, schema: pa.Schema, name: str, told: Sequence[str] | None, messages: Messages) -> Decoded:
    return decode(decoder, list(map(Message.value, messages.items)), schema, name, told)


def _keys(key_format: PluginRef | None, parts: Parts, zone: str) -> Keys | None:
    if key_format is None or parts.key is None:
        return None
    return Keys(key_format, parts.key, set(parts.key.columns) - set(parts.value.columns), zone)


@functools.lru_cache(maxsize=16)
def _header_filter(ref: PluginRef | None) -> HeaderFilter | None:
    return None if ref is None else ref.create()
