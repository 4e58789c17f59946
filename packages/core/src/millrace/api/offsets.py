"""Partitions and offsets, for sources in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from millrace.contracts import StandardOffsets, TopicPartition
from millrace.errors import OptionsError

KafkaTopicPartition = TopicPartition
"""PyFlink's name for a partition of a topic."""


class KafkaOffsetResetStrategy(StrEnum):
    """Offset of a partition that has no valid one; with NONE the query fails and names the partition."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """Offsets at which to start reading, or before which to stop.

    The class methods have the names of PyFlink's. The constructor accepts the name of any installed offset initializer.

    Args:
        mode: The name of the offset initializer, a plugin.
        settings: The values of its options, by name.
        reset: The strategy for a partition that has no valid offset; None leaves it to other options.
        starting_reset: The strategy if a source starts here and ``reset`` is None.
    """

    mode: str
    settings: Mapping[str, object] = field(default_factory=dict)
    reset: KafkaOffsetResetStrategy | None = None
    starting_reset: KafkaOffsetResetStrategy | None = field(default=None, kw_only=True)

    @classmethod
    def earliest(cls) -> KafkaOffsetsInitializer:
        """The beginning of each partition."""
        return cls(StandardOffsets.EARLIEST)

    @classmethod
    def latest(cls) -> KafkaOffsetsInitializer:
        """The end of each partition when the query starts."""
        return cls(StandardOffsets.LATEST)

    @classmethod
    def timestamp(cls, timestamp: int | str) -> KafkaOffsetsInitializer:
        """The first record with this timestamp or a later one; the end of a partition that has none.

        Args:
            timestamp: Milliseconds since 1970 UTC, or a time such as ``2026-11-27 16:00``, with or without a zone.
        """
        name = "timestamp" if isinstance(timestamp, str) else "timestamp-millis"
        return cls(StandardOffsets.TIMESTAMP, {name: timestamp})

    @classmethod
    def committed_offsets(
        cls, offset_reset_strategy: KafkaOffsetResetStrategy | None = None
    ) -> KafkaOffsetsInitializer:
        """The offsets that the consumer group has committed.

        Args:
            offset_reset_strategy: The strategy for a partition without a committed offset; NONE by default.
        """
        return cls(StandardOffsets.GROUP, {}, offset_reset_strategy, starting_reset=KafkaOffsetResetStrategy.NONE)

    @classmethod
    def offsets(
        cls,
        offsets: Mapping[tuple[str, int], int | str],
        offset_reset_strategy: KafkaOffsetResetStrategy | None = None,
    ) -> KafkaOffsetsInitializer:
        """One offset for each partition.

        Args:
            offsets: By `KafkaTopicPartition`, or topic and number: an offset, or ``earliest`` or ``latest``.
            offset_reset_strategy: The strategy for other partitions, and for those whose offset is not in the log;
                EARLIEST by default.

        Raises:
            OptionsError: A key is no partition.
        """
        try:
            by_partition = {_as_partition(key): offset for key, offset in offsets.items()}
        except ValueError as error:
            raise OptionsError("KafkaOffsetsInitializer", (f"offsets: {error}",)) from None
        text = ";".join(
            f"topic:{topic},partition:{number},offset:{offset}"
            for (topic, number), offset in sorted(by_partition.items())
        )
        return cls(
            StandardOffsets.SPECIFIC,
            {"specific-offsets": text},
            offset_reset_strategy,
            starting_reset=KafkaOffsetResetStrategy.EARLIEST,
        )

    def starting_options(self) -> dict[str, object]:
        """Return the options for a source to start here."""
        reset = self.reset or self.starting_reset
        return self._options("scan.startup.") | ({"properties.auto.offset.reset": reset} if reset else {})

    def stopping_options(self) -> dict[str, object]:
        """Return the options for a source to stop here.

        Raises:
            ValueError: There is a reset strategy, which applies only to the start.
        """
        if self.reset not in (None, KafkaOffsetResetStrategy.NONE):
            raise ValueError(
                f"the reset strategy {self.reset} says where to start, not where to stop; leave it out, and give it to "
                f"set_starting_offsets"
            )
        return self._options("scan.bounded.")

    def _options(self, prefix: str) -> dict[str, object]:
        return {f"{prefix}mode": self.mode} | {f"{prefix}{name}": value for name, value in self.settings.items()}


def topic_partitions_text(partitions: Iterable[object]) -> str:
    """Write partitions in the syntax of the option ``topic-partitions``: ``audit:3;orders:0,1``.

    Raises:
        ValueError: One of them is neither a `KafkaTopicPartition` nor a topic and number.
    """
    numbers: dict[str, list[str]] = {}
    for topic, number in sorted(map(_as_partition, partitions)):
        numbers.setdefault(topic, []).append(str(number))
    return ";".join(f"{topic}:{','.join(of_topic)}" for topic, of_topic in numbers.items())


def _as_partition(value: object) -> tuple[str, int]:
    match value:
        case (str() as topic, int() as number):
            return topic, number
    raise ValueError(f"expected partitions as (topic, number), such as ('orders', 0); got {value!r}")
