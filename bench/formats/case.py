"""What is measured of a format: its messages, and how they are read and written without millrace."""

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
    """How Spark itself reads and writes the messages, in its JVM."""

    @property
    def reads(self) -> str:
        """What reads them is called."""

    @property
    def writes(self) -> str:
        """What writes them is called."""

    def rows(self, values: DataFrame) -> DataFrame:
        """The rows of the messages in the column ``value``."""

    def value(self) -> Column:
        """The messages of rows."""


class ByHand(Protocol):
    """How one reads and writes the messages in Python where Spark offers nothing, as with ``mapInArrow``."""

    @property
    def name(self) -> str:
        """What it is called."""

    def rows(self, messages: Sequence[bytes]) -> pa.RecordBatch:
        """The rows of messages."""

    def messages(self, rows: pa.RecordBatch) -> list[bytes]:
        """The messages of rows."""


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
        """The columns."""
        return f"{ROW_KIND} STRING, {SCHEMA}" if self.has_row_kinds else SCHEMA

    @property
    def arrow_schema(self) -> pa.Schema:
        """The same as Arrow has them."""
        kinds = [pa.field(ROW_KIND, pa.string())] if self.has_row_kinds else []
        return pa.schema([*kinds, *ARROW_SCHEMA])

    @property
    def plugin(self) -> PluginRef:
        """millrace's format, with its options."""
        return plugin(self.name, self.options)


def plugin(name: str, options: Mapping[str, str]) -> PluginRef:
    """A format of millrace's with some options.

    Args:
        name: The format's name.
        options: Options of the data source.
    """
    found = configure_source({"properties.bootstrap.servers": "none", "topic": "none", "format": name, **options})
    if found.value_format is None:
        raise RuntimeError(f"there is no format {name}")
    return found.value_format
