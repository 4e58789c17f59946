"""Runs in Python workers, which get this file by itself: plugins named as ``worker_plugins:<class>``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext

from millrace.contracts import (
    ChangelogFormat,
    DeadLetter,
    DeadLetterCollector,
    Decoded,
    Decoder,
    Encoder,
    Payloads,
    RecordProducer,
)
from millrace.errors import SchemaError
from millrace.options import option


class DriverOnly(ChangelogFormat):
    """A format whose metadata and columns executors do not support, as where another version is installed there."""

    def metadata(self) -> Mapping[str, pa.DataType]:
        return {} if TaskContext.get() else {"origin": pa.string()}

    def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
        if TaskContext.get():
            raise SchemaError(f"format driver-only does not support column {schema.names[0]}")
        return NoRows()

    def encoder(self, schema: pa.Schema) -> Encoder:
        if TaskContext.get():
            raise SchemaError(f"format driver-only does not support column {schema.names[0]}")
        return NoPayloads()


class NoRows(Decoder):
    """Decode nothing."""

    def decode(self, payloads: Payloads) -> Decoded:
        raise NotImplementedError


class NoPayloads(Encoder):
    """Encode nothing."""

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        raise NotImplementedError


@dataclass(frozen=True)
class SummaryOptions:
    """The options of `Summary`."""

    summary_topic: str = option("summary-topic", doc="The topic to write to.")


class Summary(DeadLetterCollector):
    """A collector that writes one record for each task: the offsets of what it collected."""

    Options = SummaryOptions

    @property
    def topics(self) -> Mapping[str, str]:
        return {self.options.summary_topic: "summary-topic"}

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        self._offsets = [*getattr(self, "_offsets", []), *(letter.offset for letter in letters)]
        self._producer = producer

    def finish(self) -> None:
        offsets = getattr(self, "_offsets", [])
        if offsets:
            value = ",".join(map(str, offsets)).encode()
            self._producer.produce(self.options.summary_topic, key=None, value=value)
