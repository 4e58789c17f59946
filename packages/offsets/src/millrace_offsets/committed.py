"""The offset initializer ``group-offsets``: where a consumer group is."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition


class GroupOffsets(OffsetInitializer):
    """The offsets that the group of ``properties.group.id`` has committed."""

    def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
        """The group's offsets: see `OffsetInitializer.offsets`."""
        return lookup.committed(partitions)
