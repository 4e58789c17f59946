"""Encoding: from rows to records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.records.record_columns import Records
from millrace.sink.writer.kafka_columns import kafka_carriers
from millrace.sink.writer.record_builder import records_of
from millrace.sink.writer.serialize import Made, made_for
from millrace.sink.writer.topic_routing import Route, route_for
from millrace.sink.writer.writable_metadata import VALUE, Carriers, metadata_carriers

Encode = Callable[[pa.RecordBatch], Iterator[Records]]


@functools.lru_cache(maxsize=16)
def encode_for(config: SinkConfig, schema: pa.Schema) -> Encode:
    """What turns batches of rows into records; made on the driver to check the rows' columns, then once per worker.

    Raises:
        SchemaError: The rows cannot be written.
        OptionsError: Nothing says where to write.
    """
    options = config.options
    named = metadata_carriers(schema, options.metadata)
    carriers = kafka_carriers(schema, named) if config.value_format is None else named
    # As in Spark's own connector, one topic wins over a column that nobody has asked for
    topic_column = named.get("topic") if len(options.topics) == 1 else carriers.get("topic")
    route = route_for(options, topic_column, has_format=config.value_format is not None)
    beside = {key: column for key, column in carriers.items() if key not in ("topic", VALUE)}
    values, keys = made_for(config, schema, carriers)
    return functools.partial(_encode, values, keys, route, beside)


def _encode(values: Made, keys: Made | None, route: Route, beside: Carriers, rows: pa.RecordBatch) -> Iterator[Records]:
    values_of, keys_of = values.of(rows), None if keys is None else keys.of(rows)
    carrying = rows.select(list(beside.values()))
    for topic, chosen in route(rows):
        part = carrying if chosen is None or not beside else carrying.take(chosen)
        made_keys = None if keys_of is None else keys_of(topic, chosen)
        yield records_of(topic, values_of(topic, chosen), part, beside, made_keys)
