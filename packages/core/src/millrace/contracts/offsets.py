"""Offset initializers: find the offsets to start reading at, or to stop before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from millrace.contracts.plugin import Plugin


class StandardOffsets:
    """The names of the offset initializers that core uses itself, as in Flink's ``scan.startup.mode``.

    Core names them where the user gives no mode, in builders, and for the options of Spark's own Kafka connector. The
    package that offers them gives them these options: ``timestamp-millis``, ``partition-timestamps`` and
    ``timestamp-no-match`` for `TIMESTAMP`, ``specific-offsets`` for `SPECIFIC`, ``all-partitions-named`` for both.
    """

    EARLIEST = "earliest-offset"
    LATEST = "latest-offset"
    GROUP = "group-offsets"
    TIMESTAMP = "timestamp"
    SPECIFIC = "specific-offsets"


class TopicPartition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class OffsetLookup(Protocol):
    """Answer the questions of an offset initializer; each call is one request for all partitions."""

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the earliest offset that is still in the log."""

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offset of the next visible record: the last stable offset when reading committed."""

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Return the offset of the first record with a timestamp of ``millis`` or later, or the end without one.

        Args:
            partitions: The partitions to look at.
            millis: Milliseconds since 1970 UTC.
        """

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offsets that the consumer group has committed; partitions without one are left out.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """


class OffsetInitializer(Plugin, ABC):
    """Find an offset for each partition, to start at or to stop before.

    Its options are given under ``scan.startup.`` when it starts a read and under ``scan.bounded.`` when it stops one.
    """

    @abstractmethod
    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """Return an offset, at least 0, for each of ``partitions`` that has one.

        Called on the driver, once per query or batch read. A partition that is left out, or whose offset is no longer
        in its log, starts where ``properties.auto.offset.reset`` says, and is not read at all when the offset was to
        be the one to stop at.
        """
