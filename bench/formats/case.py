"""A format under measurement: its messages, and ways to read and write them without millrace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from bench.data import ARROW_SCHEMA, SCHEMA
from millrace.configuration.build import configure_source
from millrace.plugins.manager import PluginRef

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class InSpark(Protocol):
    """Reading and writing of the messages by Spark itself, in its JVM."""

    @property
    def reads(self) -> str:
        """The name of the way to read, for the report."""

    @property
    def writes(self) -> str:
        """The name of the way to write, for the report."""

    def rows(self, values: DataFrame) -> DataFrame:
        """Decode the messages in the column ``value``."""

    def value(self) -> Column:
        """Encode rows."""


class ByHand(Protocol):
    """Reading and writing of the messages in Python by hand, with ``mapInArrow``, where Spark offers nothing."""

    @property
    def name(self) -> str:
        """The name of this way, for the report."""

    def rows(self, messages: Sequence[bytes]) -> pa.RecordBatch:
        """Decode messages."""

    def messages(self, rows: pa.RecordBatch) -> list[bytes]:
        """Encode rows."""


ROW_KIND = "row_kind"


@dataclass(frozen=True)
class FormatCase:
    """A format.

    Attributes:
        name: Its name.
        messages: The messages from one number up to another, which hold the records of `bench.data`.
        bad: What stands in for a message that cannot be read, made from one that can.
        in_spark: What Spark offers; None where it has nothing, or its jar could not be had.
        by_hand: What one writes instead; None where Spark has what is needed.
        options: millrace's options beside the format's name.
        lenient: Options with which it passes over bad messages.
        has_row_kinds: Whether rows begin with a column of their kinds.
        decode_target: How many times as fast decoding should be.
        read_target: How many times as fast reading a topic should be.
    """

    name: str
    messages: Callable[[int, int], list[bytes]]
    bad: Callable[[bytes], bytes]
    in_spark: InSpark | None
    by_hand: ByHand | None
    decode_target: float
    read_target: float
    options: Mapping[str, str] = field(default_factory=dict)
    lenient: Mapping[str, str] = field(default_factory=dict)
    has_row_kinds: bool = False

    @property
    def schema(self) -> str:
        """The columns, in Spark's types."""
        return f"{ROW_KIND} STRING, {SCHEMA}" if self.has_row_kinds else SCHEMA

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns, in Arrow's types."""
        kinds = [pa.field(ROW_KIND, pa.string())] if self.has_row_kinds else []
        return pa.schema([*kinds, *ARROW_SCHEMA])

    @property
    def plugin(self) -> PluginRef:
        """millrace's format with its options."""
        return plugin(self.name, self.options)


def plugin(name: str, options: Mapping[str, str]) -> PluginRef:
    """Return a format of millrace with some options.

    Args:
        name: The format's name.
        options: Options of the data source.
    """
    config = configure_source({"properties.bootstrap.servers": "none", "topic": "none", "format": name, **options})
    if config.value_format is None:
        raise RuntimeError(f"there is no format {name}")
    return config.value_format
