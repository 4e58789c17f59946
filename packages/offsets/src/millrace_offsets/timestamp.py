"""The offset initializer ``timestamp``: a time in each partition."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition
from millrace.options import option


@dataclass(frozen=True, kw_only=True)
class TimestampOptions:
    """The options of ``timestamp``.

    Attributes:
        millis: Milliseconds since 1970 UTC.
    """

    millis: Annotated[int, Ge(0)] = option(
        "timestamp-millis", doc="The first record with this timestamp or a later one, in milliseconds since 1970 UTC."
    )


class TimestampOffset(OffsetInitializer):
    """The first record whose timestamp is not before a given time; the end of a partition that has none."""

    Options = TimestampOptions

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """The offsets from that time on: see `OffsetInitializer.offsets`."""
        return lookup.at_timestamp(partitions, self.options.millis)
