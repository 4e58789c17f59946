"""Encoding: from rows to records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.contracts import Encoder
from millrace.errors import OptionsError, PluginError
from millrace.sink.kafka_columns import check_kafka_columns, records_of
from millrace.sink.records import Records

Encode = Callable[[pa.RecordBatch], Iterator[Records]]


@functools.lru_cache(maxsize=16)
def encode_for(config: SinkConfig, schema: pa.Schema) -> Encode:
    """What turns batches of rows into records; made on the driver to check the rows' columns, then once per worker.

    Raises:
        SchemaError: The rows cannot be written.
        OptionsError: The topic is missing, or more than one is given.
    """
    topics = config.options.topics
    if len(topics) > 1:
        raise OptionsError("sink", (f"option 'topic': a sink writes to one topic; got {';'.join(topics)!r}",))
    if config.value_format is None:
        check_kafka_columns(schema, topics)
        return functools.partial(_kafka_records, topics)
    if not topics:
        raise OptionsError("sink", ("option 'topic' is required, such as 'orders'",))
    encoder = config.value_format.create().encoder(schema)
    return functools.partial(_typed_records, topics[0], config.value_format.name, encoder)


def _kafka_records(topics: tuple[str, ...], rows: pa.RecordBatch) -> Iterator[Records]:
    return records_of(rows, topics)


def _typed_records(topic: str, name: str, encoder: Encoder, rows: pa.RecordBatch) -> Iterator[Records]:
    payloads = encoder.encode(rows)
    if len(payloads) != rows.num_rows:
        raise PluginError(f"format {name!r} gave {len(payloads)} payloads for {rows.num_rows} rows")
    yield Records(topic, payloads)
