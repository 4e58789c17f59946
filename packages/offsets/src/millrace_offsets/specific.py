"""The offset initializer ``specific-offsets``: an offset given for each partition."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition
from millrace.options import option
from millrace_offsets.partition_list import parse_list, values_by_partition

EARLIEST: Literal["earliest"] = "earliest"
LATEST: Literal["latest"] = "latest"

Place = int | Literal["earliest", "latest"]
"""An offset, or an end of the log."""


def parse_offsets(text: str) -> tuple[tuple[str | None, int, Place], ...]:
    """Parse the option into topic (None for every topic), partition and offset of each entry of the option.

    Raises:
        ValueError: An entry is malformed, or a partition is named twice.
    """
    entries = parse_list(text, "offset", r"\d+|earliest|latest", "partition:0,offset:42;partition:1,offset:300")
    return tuple((topic, partition, _place(value)) for topic, partition, value in entries)


def _place(text: str) -> Place:
    if text == EARLIEST:
        return EARLIEST
    return LATEST if text == LATEST else int(text)


@dataclass(frozen=True, kw_only=True)
class SpecificOptions:
    """The options of ``specific-offsets``.

    Attributes:
        entries: The offsets.
        others: Where the partitions are that have no entry; None leaves that to the reset policy.
        all_named: Whether they must be those of all partitions that are read, and of no others.
    """

    entries: tuple[tuple[str | None, int, Place], ...] = option(
        "specific-offsets",
        parse=parse_offsets,
        doc="The offsets, such as partition:0,offset:42;partition:1,offset:300. If several topics are read, each "
        "entry starts with its topic, as in topic:orders,partition:0,offset:42. Instead of a number, earliest and "
        "latest mean the beginning and the end of the log (an addition).",
    )
    others: Literal["earliest", "latest"] | None = option(
        "specific-offsets.others",
        default=None,
        doc="The position of partitions that are not listed: earliest, which suits partitions that are added later, "
        "or latest. By default, properties.auto.offset.reset decides where to start (an addition).",
    )
    all_named: bool = option(
        "all-partitions-named",
        default=False,
        doc="Whether all partitions that are read must be listed, and no others, as Spark's own connector requires "
        "(an addition).",
    )


class SpecificOffsets(OffsetInitializer):
    """Offsets given one by one; an entry with a topic wins over one without."""

    Options = SpecificOptions

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """Return the given offsets: see `OffsetInitializer.offsets`.

        Raises:
            OptionsError: They name a partition that does not exist, or not all of them where they must.
        """
        places = values_by_partition(
            self.options.entries, partitions, "specific offsets", all_named=self.options.all_named
        )
        if self.options.others is not None:
            places = {**dict.fromkeys(partitions, self.options.others), **places}
        begin = lookup.begin([at for at, place in places.items() if place == EARLIEST])
        end = lookup.end([at for at, place in places.items() if place == LATEST])
        return {at: place if isinstance(place, int) else (begin | end)[at] for at, place in places.items()}
