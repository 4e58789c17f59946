"""Partitions of keys by the partitioner of their writer."""

from __future__ import annotations

from millrace.contracts.partitioner import RecordPartitioner
from millrace.plugins.manager import PluginRef
from millrace.source.enumerator.key_partitions import WriterPartitions


class LengthPartitioner(RecordPartitioner):
    """Writes a key to the partition of its length; prepares once, and not before it is asked to."""

    decides_by_key = True
    opened = 0

    def open(self, task_index: int, task_count: int) -> None:
        """Count the calls."""
        self.opened += task_count

    def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int | None:
        """Return the length of the key, if the partitioner was prepared once."""
        assert self.opened == 1
        return len(key or b"") % partition_count


def test_a_partitioner_is_opened_once_before_it_is_asked() -> None:
    ref = PluginRef("partitioner", f"{__name__}:LengthPartitioner", None, None)
    partitions = WriterPartitions(ref, lambda _: 3)
    assert partitions.of("a", [b"x", b"yz"]) == {1, 2}
    assert partitions.of("a", [b"abc"]) == {0}


def test_the_partitions_of_keys_are_unknown_without_a_partitioner() -> None:
    assert WriterPartitions(None, lambda _: 3).of("a", [b"x"]) is None
