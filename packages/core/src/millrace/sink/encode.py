"""Encoding: from rows to records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.contracts import Encoder, Payloads
from millrace.errors import PluginError, SchemaError
from millrace.plugins.manager import PluginRef
from millrace.sink.carried import records_of
from millrace.sink.kafka_columns import kafka_carriers
from millrace.sink.metadata import VALUE, Carriers, metadata_carriers
from millrace.sink.records import Records
from millrace.sink.topics import Route, route_for

Encode = Callable[[pa.RecordBatch], Iterator[Records]]
Values = Callable[[pa.RecordBatch], Payloads]


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
    return functools.partial(_encode, _values_for(config.value_format, schema, carriers), route, beside)


def _encode(values: Values, route: Route, beside: Carriers, rows: pa.RecordBatch) -> Iterator[Records]:
    payloads = values(rows)
    carrying = rows.select(list(beside.values()))
    for topic, chosen in route(rows):
        if chosen is None:
            yield records_of(topic, payloads, carrying, beside)
        else:
            part = carrying.take(chosen) if beside else carrying
            yield records_of(topic, Payloads(payloads.to_array().take(chosen)), part, beside)


def _values_for(value_format: PluginRef | None, schema: pa.Schema, carriers: Carriers) -> Values:
    """What makes the records' values, of one column as it is or by the format."""
    left = [index for index, name in enumerate(schema.names) if name not in carriers.values()]
    if value_format is None or VALUE in carriers:
        if left:
            raise SchemaError(
                f"metadata column {carriers[VALUE]!r} ({VALUE}) is the whole value, beside which no other column can "
                f"be written: drop {', '.join(schema.names[index] for index in left)}, or the entry of {VALUE} in the "
                f"option 'metadata.columns'"
            )
        return lambda rows: Payloads(rows.column(carriers[VALUE]))
    if not left:
        raise SchemaError(
            f"no column is left for format {value_format.name!r}: all are named in the option 'metadata.columns'. Add "
            f"columns for the value, or name one that is the whole value, as {VALUE} AS value"
        )
    encoder = value_format.create().encoder(pa.schema([schema.field(index) for index in left]))
    return functools.partial(_typed_values, value_format.name, encoder, left)


def _typed_values(name: str, encoder: Encoder, columns: list[int], rows: pa.RecordBatch) -> Payloads:
    payloads = encoder.encode(rows.select(columns))
    if len(payloads) != rows.num_rows:
        raise PluginError(f"format {name!r} gave {len(payloads)} payloads for {rows.num_rows} rows")
    return payloads
