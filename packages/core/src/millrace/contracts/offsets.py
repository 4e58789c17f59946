"""Offset initializers: where reading starts, and where it stops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from millrace.contracts.plugin import Plugin


class TopicPartition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class OffsetLookup(Protocol):
    """What an offset initializer may ask the cluster; each call is one request for all partitions."""

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The earliest offset that is still in the log."""

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset that the next visible record will have (the last stable offset when reading committed)."""

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """The offset of the first record whose timestamp is ``millis`` since 1970 UTC or later; the end without one."""

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The offsets that the consumer group has committed; partitions without one are left out.

        Raises:
            OptionsError: The option ``properties.group.id`` is not given.
        """


class OffsetInitializer(Plugin, ABC):
    """Finds an offset for each partition, to start at or to stop before.

    Its options are given under ``scan.startup.`` when it starts a read and under ``scan.bounded.`` when it stops one.
    """

    @abstractmethod
    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """An offset, at least 0, for each of ``partitions`` that has one.

        Called on the driver, once per query or batch read. A partition that is left out, or whose offset is no longer
        in its log, starts where ``properties.auto.offset.reset`` says, and is not read at all when the offset was to
        be the one to stop at.
        """
