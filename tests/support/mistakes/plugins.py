"""Plugins that raise what their contracts do not allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from millrace.contracts import (
    DeadLetter,
    DeadLetterCollector,
    Decoded,
    Decoder,
    Encoder,
    Format,
    HeaderFilter,
    HeaderFilterOptions,
    OffsetInitializer,
    OffsetLookup,
    Partitioner,
    Payloads,
    RecordProducer,
    TopicPartition,
)
from millrace.options import option


class BrokenFormat(Format):
    """A format that neither decodes nor encodes."""

    def decoder(self, schema: pa.Schema) -> Decoder:
        return BrokenDecoder()

    def encoder(self, schema: pa.Schema) -> Encoder:
        return BrokenEncoder()


class BrokenDecoder(Decoder):
    """A decoder that raises."""

    def decode(self, payloads: Payloads) -> Decoded:
        raise KeyError("it is broken")


class BrokenEncoder(Encoder):
    """An encoder that raises."""

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        raise KeyError("it is broken")


@dataclass(frozen=True, kw_only=True)
class BrokenFilterOptions(HeaderFilterOptions):
    """The options of `BrokenFilter`."""

    expression: str = option("scan.header-filter", doc="Anything.")


class BrokenFilter(HeaderFilter):
    """A header filter that raises."""

    Options = BrokenFilterOptions

    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        raise ZeroDivisionError("it is broken")


class BrokenStart(OffsetInitializer):
    """An offset initializer that raises."""

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        raise RuntimeError("it is broken")


class BrokenPartitioner(Partitioner):
    """A partitioner that raises."""

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        raise RuntimeError("it is broken")


class BrokenCollector(DeadLetterCollector):
    """A collector that raises."""

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        raise RuntimeError("it is broken")
