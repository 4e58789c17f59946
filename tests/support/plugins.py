"""Plugins that tests name by an import string."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

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
    Payloads,
    RecordProducer,
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


@dataclass(frozen=True, kw_only=True)
class HeaderCountOptions(AnyHeaderOptions):
    """The options of `HeaderCount`: one beside the expression."""

    minimum: int = option("scan.filter.minimum", default=1, doc="The least number of headers.")


class HeaderCount(HeaderFilter):
    """A filter language whose one word keeps the records with enough headers."""

    Options = HeaderCountOptions

    def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
        return pc.greater_equal(pc.list_value_length(headers), self.options.minimum)


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


@dataclass(frozen=True)
class LimitOptions:
    """The options of `KeepNothing`."""

    limit: int = option("limit", default=1, doc="A number.")


class KeepNothing(DeadLetterCollector):
    """A collector of malformed messages that has an option."""

    Options = LimitOptions

    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        """Drop them."""


class ListOfTopics(KeepNothing):
    """A collector that breaks its contract: its topics are a list."""

    topics = ["dead"]  # noqa: RUF012 - the contract asks for a property
