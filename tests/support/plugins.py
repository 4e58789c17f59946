"""Plugins that tests name by an import string."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import (
    Decoded,
    Decoder,
    Encoder,
    Format,
    HeaderFilter,
    HeaderFilterOptions,
    OffsetInitializer,
    OffsetLookup,
    Payloads,
    TopicPartition,
)
from millrace.options import option


class AllButLastPartition(OffsetInitializer):
    """A partitioner that never chooses the last partition."""

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(list(partitions)[:-1], 20)


class NegativeOffsets(OffsetInitializer):
    """An offset initializer that returns an offset that no log has."""

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(partitions, -2)


def parse_any(text: str) -> str:
    if text != "any":
        raise ValueError("expected 'any'")
    return text


@dataclass(frozen=True, kw_only=True)
class AnyHeaderOptions(HeaderFilterOptions):
    expression: str = option("scan.header-filter", parse=parse_any, doc="The word any.")


class AnyHeader(HeaderFilter):
    """A filter language whose one word keeps the records with any header."""

    Options = AnyHeaderOptions

    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        return pc.greater(pc.list_value_length(headers), 0)


class Words(Format):
    """A row for each word of a message."""

    def decoder(self, schema: pa.Schema) -> Decoder:
        class WordsDecoder(Decoder):
            def decode(self, payloads: Payloads) -> Decoded:
                words = [
                    (index, word) for index, each in enumerate(payloads.to_list()) for word in (each or b"").split()
                ]
                rows = pa.RecordBatch.from_arrays([pa.array([word.decode() for _, word in words])], schema=schema)
                return Decoded(rows, pa.array([index for index, _ in words], pa.int32()))

        return WordsDecoder()

    def encoder(self, schema: pa.Schema) -> Encoder:
        raise NotImplementedError
