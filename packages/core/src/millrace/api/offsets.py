"""Where a source starts and where it stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from millrace.api.topic_partitions import as_partition
from millrace.errors import OptionsError


class KafkaOffsetResetStrategy(StrEnum):
    """Where a partition starts that has no valid offset; with NONE the query fails and names it."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """An offset for each partition, to start at or to stop before.

    The class methods name millrace's own offset initializers; the class itself names any other that is installed.

    Args:
        mode: The name of the offset initializer, a plugin.
        settings: Its options, under the names that it gives them.
        reset: Where a partition starts that has no valid offset; None leaves it to other options.
        starting_reset: The same where ``reset`` is None.
    """

    mode: str
    settings: Mapping[str, object] = field(default_factory=dict)
    reset: KafkaOffsetResetStrategy | None = None
    starting_reset: KafkaOffsetResetStrategy | None = field(default=None, kw_only=True)

    @classmethod
    def earliest(cls) -> KafkaOffsetsInitializer:
        """The beginning of each partition."""
        return cls("earliest-offset")

    @classmethod
    def latest(cls) -> KafkaOffsetsInitializer:
        """The end of each partition, as it is when the query starts."""
        return cls("latest-offset")

    @classmethod
    def timestamp(cls, millis: int) -> KafkaOffsetsInitializer:
        """The first record with this timestamp or a later one; the end of a partition that has none.

        Args:
            millis: Milliseconds since 1970 UTC.
        """
        return cls("timestamp", {"timestamp-millis": millis})

    @classmethod
    def committed_offsets(cls, reset: KafkaOffsetResetStrategy | None = None) -> KafkaOffsetsInitializer:
        """What the consumer group has committed.

        Args:
            reset: Where a partition starts for which it has committed nothing; NONE by default.
        """
        return cls("group-offsets", {}, reset, starting_reset=KafkaOffsetResetStrategy.NONE)

    @classmethod
    def offsets(
        cls, offsets: Mapping[tuple[str, int], int | str], reset: KafkaOffsetResetStrategy | None = None
    ) -> KafkaOffsetsInitializer:
        """Offsets given one by one.

        Args:
            offsets: By `TopicPartition`, or topic and number: an offset, or ``earliest`` or ``latest``.
            reset: Where the other partitions start, and those whose offset is not in the log; EARLIEST by default.

        Raises:
            OptionsError: A key is no partition.
        """
        try:
            named = {as_partition(at): offset for at, offset in offsets.items()}
        except ValueError as error:
            raise OptionsError("KafkaOffsetsInitializer", (f"offsets: {error}",)) from None
        listed = ";".join(
            f"topic:{topic},partition:{number},offset:{offset}" for (topic, number), offset in sorted(named.items())
        )
        return cls(
            "specific-offsets", {"specific-offsets": listed}, reset, starting_reset=KafkaOffsetResetStrategy.EARLIEST
        )

    def starting_options(self) -> dict[str, object]:
        """The options that let a source start here."""
        reset = self.reset or self.starting_reset
        return self._options("scan.startup.") | ({"properties.auto.offset.reset": reset} if reset else {})

    def stopping_options(self) -> dict[str, object]:
        """The options that let a source stop here.

        Raises:
            ValueError: There is a reset strategy, which only says where to start.
        """
        if self.reset not in (None, KafkaOffsetResetStrategy.NONE):
            raise ValueError(
                f"the reset strategy {self.reset} says where to start, not where to stop; leave it out, and give it to "
                f"set_starting_offsets"
            )
        return self._options("scan.bounded.")

    def _options(self, prefix: str) -> dict[str, object]:
        return {f"{prefix}mode": self.mode} | {f"{prefix}{name}": value for name, value in self.settings.items()}
