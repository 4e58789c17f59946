"""The offset initializer ``earliest-offset``: the beginning of each partition."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition


class EarliestOffset(OffsetInitializer):
    """The earliest offset that is still in each partition's log."""

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """Return the partitions' first offsets: see `OffsetInitializer.offsets`."""
        return lookup.begin(partitions)
