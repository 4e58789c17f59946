"""Offset initializers: find the offsets to start reading at, or to stop before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from millrace.contracts.plugin import Plugin


class StandardOffsets:
    """The names of the offset initializers that core uses itself, as in Flink's ``scan.startup.mode``.

    Core uses these names for default modes, in builders, and for the options of Spark's own Kafka connector. Their
    plugins must have these options: ``timestamp``, ``timestamp-millis``, ``partition-timestamps`` and
    ``timestamp-no-match`` for `TIMESTAMP`, ``specific-offsets`` for `SPECIFIC`, and ``all-partitions-named`` for both.
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
    """Looks up offsets for an offset initializer. Each call sends one request for all partitions."""

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the earliest offset in the log."""

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offset of the next visible record: the last stable offset when reading committed."""

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """Return the offset of the first record with the timestamp ``millis`` or later, or the end if there is none.

        Args:
            partitions: The partitions to look at.
            millis: Milliseconds since 1970 UTC.
        """

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the committed offsets of the consumer group. Partitions without one are left out.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """


class OffsetInitializer(Plugin, ABC):
    """Finds the offsets at which to start reading, or before which to stop.

    Its options begin with ``scan.startup.`` if it starts a read, and with ``scan.bounded.`` if it stops one.
    """

    @abstractmethod
    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """Return an offset of at least 0 for each partition that has one.

        Called on the driver, once per query or batch read. For a partition that is left out, or whose offset is no
        longer in the log, ``properties.auto.offset.reset`` decides where to start. If the offsets are those to stop at,
        such a partition is not read at all.
        """
