"""The way of a record through an executor: fetch, filter, decode, as Arrow."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pyarrow as pa

from millrace.collector import no_garbage_collection
from millrace.configuration import SourceConfig
from millrace.contracts import HeaderFilter
from millrace.plugins.manager import PluginRef
from millrace.source.decode import decode_values
from millrace.source.fetch import Messages, fetch
from millrace.source.header_filter import keep
from millrace.source.kafka_columns import kafka_columns
from millrace.source.splits import Split


def read(config: SourceConfig, schema: pa.Schema, split: Split) -> Iterator[pa.RecordBatch]:
    """The rows of a split, in batches of exactly ``schema``.

    Args:
        config: How to read.
        schema: The query's columns.
        split: What to read.

    Raises:
        DataLossError, ClientError: As `fetch`.
        MessageError: A message is malformed.
    """
    header_filter = _header_filter(config.header_filter)
    to_rows = _to_rows(config.value_format, schema)
    with no_garbage_collection():
        for fetched in fetch(config.client, split):
            kept = keep(header_filter, fetched)
            if kept.items:
                yield to_rows(kept)


@functools.lru_cache(maxsize=16)
def _to_rows(value_format: PluginRef | None, schema: pa.Schema) -> Callable[[Messages], pa.RecordBatch]:
    if value_format is None:
        return functools.partial(_kafka_rows, schema)
    return functools.partial(decode_values, value_format.create().decoder(schema))


def _kafka_rows(schema: pa.Schema, messages: Messages) -> pa.RecordBatch:
    return kafka_columns(messages, schema)


@functools.lru_cache(maxsize=16)
def _header_filter(ref: PluginRef | None) -> HeaderFilter | None:
    return None if ref is None else ref.create()
