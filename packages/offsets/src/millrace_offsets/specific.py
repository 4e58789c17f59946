"""The offset initializer ``specific-offsets``: offsets written out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition
from millrace.options import option

_ENTRY = re.compile(
    r"\s*(?:topic:(?P<topic>[\w.-]+),)?partition:(?P<partition>\d+),offset:(?P<offset>\d+)\s*", re.ASCII
)


def parse_offsets(text: str) -> tuple[tuple[str | None, int, int], ...]:
    """Topic (None for every topic), partition and offset of each entry of the option.

    Raises:
        ValueError: An entry is malformed, or a partition is named twice.
    """
    entries: dict[tuple[str | None, int], int] = {}
    for part in text.split(";"):
        match = _ENTRY.fullmatch(part)
        if match is None:
            raise ValueError(
                f"expected 'partition:0,offset:42;partition:1,offset:300', each with 'topic:<name>,' before it when "
                f"several topics are read; {part!r} is neither"
            )
        key = match["topic"], int(match["partition"])
        if key in entries:
            raise ValueError(f"expected each partition once, but {part.strip()!r} names one again")
        entries[key] = int(match["offset"])
    return tuple((topic, partition, offset) for (topic, partition), offset in entries.items())


@dataclass(frozen=True, kw_only=True)
class SpecificOptions:
    """The options of ``specific-offsets``.

    Attributes:
        entries: The offsets.
    """

    entries: tuple[tuple[str | None, int, int], ...] = option(
        "specific-offsets",
        parse=parse_offsets,
        doc="The offsets, as partition:0,offset:42;partition:1,offset:300, each with topic:<name>, before it when "
        "several topics are read.",
    )


class SpecificOffsets(OffsetInitializer):
    """Offsets given one by one; an entry with a topic wins over one without."""

    Options = SpecificOptions

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """The offsets that are written out: see `OffsetInitializer.offsets`."""
        given = {(topic, partition): offset for topic, partition, offset in self.options.entries}
        found = {at: given.get((at.topic, at.partition), given.get((None, at.partition))) for at in partitions}
        return {partition: offset for partition, offset in found.items() if offset is not None}
