"""A split as Spark's unit of work."""

from __future__ import annotations

from pyspark.sql.datasource import InputPartition

from millrace.source.splits import Split


class SplitPartition(InputPartition):
    """A split, to be read by one task."""

    def __init__(self, split: Split) -> None:
        super().__init__(split)


def split_of(partition: InputPartition) -> Split:
    """The split of a partition; Spark makes an empty partition of its own where a read has none."""
    return partition.value or Split(())
