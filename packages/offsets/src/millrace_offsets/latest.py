"""The offset initializer ``latest-offset``: the end of each partition."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition


class LatestOffset(OffsetInitializer):
    """The offset after the last visible record of each partition.

    A read that starts there sees only records written later; a read that stops there sees all that are there now.
    """

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """Return the partitions' end offsets: see `OffsetInitializer.offsets`."""
        return lookup.end(partitions)
