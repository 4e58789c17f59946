"""Find the partitions of keys by the partitioner of their writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from millrace.contracts import Partitioner, Payloads
from millrace.kafka.murmur2 import partition_of_key
from millrace.plugins.manager import PluginRef


class WriterPartitions:
    """Partitions of keys, as a partitioner chooses them; implements `KeyPartitions`.

    Args:
        partitioner: The partitioner of the writer; None where it is not known.
        partition_count: Looks up the number of partitions of a topic.
    """

    def __init__(self, partitioner: PluginRef | None, partition_count: Callable[[str], int]) -> None:
        self._partitioner: Partitioner | None = None if partitioner is None else partitioner.create()
        if self._partitioner is not None:
            self._partitioner.open(0, 1)
        self._partition_count = partition_count
        self._counts: dict[str, int] = {}

    def of(self, topic: str, keys: Iterable[bytes]) -> frozenset[int] | None:
        """Return the partitions of keys in a topic; None where they are not known."""
        if self._partitioner is None:
            return None
        listed = list(keys)
        if topic not in self._counts:
            self._counts[topic] = self._partition_count(topic)
        count = self._counts[topic]
        chosen = self._partitioner.partition(topic, Payloads(listed), Payloads([b""] * len(listed)), count).to_pylist()
        return frozenset(
            partition_of_key(key, count) if partition is None else partition
            for key, partition in zip(listed, chosen, strict=True)
        )
