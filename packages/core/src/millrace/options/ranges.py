"""The options that tell which partitions the source reads, from where to where, and what it commits of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options.field import option
from millrace.options.shared import TableOptions
from millrace.options.values import parse_bounded_mode, parse_partitions


@dataclass(frozen=True, kw_only=True)
class RangeOptions(TableOptions):
    """The options of the offsets that the source reads and commits."""

    partitions: tuple[tuple[str, int], ...] = option(
        "topic-partitions",
        default=(),
        parse=parse_partitions,
        doc="Individual partitions to read, such as orders:0,1;audit:3 (an addition).",
    )
    startup_mode: str | None = option(
        "scan.startup.mode",
        default=None,
        doc="Where a query without a checkpoint starts: earliest-offset, latest-offset, group-offsets, timestamp, "
        "specific-offsets, or another offset initializer. The default is group-offsets if properties.group.id is set. "
        "Otherwise, as with Spark's own connector, a stream starts at the latest offsets and a batch at the earliest.",
    )
    offset_reset: Literal["earliest", "latest", "none"] = option(
        "properties.auto.offset.reset",
        default="none",
        doc="Where to start reading a partition for which the startup mode has no valid offset. With none, the query "
        "fails and names the partition. With scan.fail-on-data-loss = false, it also decides where a stream continues "
        "after records that it had not read were deleted: at the end of the log with latest, otherwise at its "
        "beginning.",
    )
    bounded_mode: str | None = option(
        "scan.bounded.mode",
        default=None,
        parse=parse_bounded_mode,
        doc="Where reading stops: latest-offset, group-offsets, timestamp, specific-offsets, or another offset "
        "initializer. By default, and with unbounded, a stream does not stop and a batch stops at the latest offsets.",
    )

    commit_offsets: bool | None = option(
        "commit.offsets.on.checkpoint",
        default=None,
        aliases=("properties.commit.offsets.on.checkpoint",),
        doc="Whether a stream commits the group's offsets after each micro-batch, for monitoring only. The default is "
        "true if properties.group.id is set.",
    )

    def __post_init__(self) -> None:
        selections = {"topic": self.topics, "topic-pattern": self.topic_pattern, "topic-partitions": self.partitions}
        names = [repr(name) for name, value in selections.items() if value]
        if len(names) > 1:
            raise ValueError(f"options {' and '.join(names)} exclude each other: give one of them")
