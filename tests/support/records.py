"""Build records as a write task does, from options and rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from millrace.configuration import SinkConfig
from millrace.configuration.build import configure_sink
from millrace.errors import OptionsError, SchemaError
from millrace.records.producer_records import ProducerRecords
from millrace.sink.writer.record_builder import record_builder_for


def sink_config(**options: str) -> SinkConfig:
    """The configuration of a sink; ``_`` in an option's name stands for ``.``."""
    named = {name.replace("_", "."): value for name, value in options.items()}
    return configure_sink({"properties.bootstrap.servers": "h:1", **named})


def build_records(config: SinkConfig, rows: pa.RecordBatch) -> list[ProducerRecords]:
    """The records of one batch."""
    return list(record_builder_for(config, rows.schema).build(rows))


def refused_rows(config: SinkConfig, schema: pa.Schema) -> str:
    """The error of rows that cannot be written."""
    with pytest.raises((SchemaError, OptionsError)) as error:
        record_builder_for(config, schema)
    return str(error.value)


def values_of(records: ProducerRecords) -> list[bytes | None]:
    """The values of records."""
    return list(records.values.to_list())


def keys_of(records: ProducerRecords) -> Sequence[bytes | None]:
    """The keys of records that have some."""
    assert records.keys is not None
    return list(records.keys.to_list())
