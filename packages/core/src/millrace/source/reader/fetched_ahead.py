"""Collect messages that a task fetches behind its ranges, and keep them for the tasks that go on there."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from confluent_kafka import Message

from millrace.contracts import TopicPartition
from millrace.records.messages import Messages
from millrace.source.reader.kept_messages import Kept, KeptMessages
from millrace.source.splits import OffsetRange

MAX_BYTES = 32 << 20
"""Size of the values that a task collects, in memory: one of many partitions may fetch more behind their ranges."""


class FetchedAhead:
    """The messages behind the ranges of one task.

    Args:
        store: Keeps messages from task to task; None to keep none.
        ranges: The task's ranges.
    """

    def __init__(self, store: KeptMessages | None, ranges: Iterable[OffsetRange]) -> None:
        self._store = store
        # Other ranges are followed by one of the same micro-batch, which another task reads at the same time
        self._wanted = {range_.partition: range_ for range_ in ranges if store and range_.log and range_.log.is_last}
        self._messages: dict[TopicPartition, list[Message]] = {}
        self._room = MAX_BYTES

    @property
    def wanted(self) -> Collection[TopicPartition | None]:
        """The partitions whose messages behind the range are of use."""
        return self._wanted.keys()

    def find(self, range_: OffsetRange) -> Kept | None:
        """Return what an earlier task has kept, from the beginning of a range on."""
        kept_messages = self._store.find(range_) if self._store else None
        if kept_messages is not None and kept_messages.end > range_.end:
            # It stays as it is, for the next task
            self._wanted.pop(range_.partition, None)
        return kept_messages

    def add(self, messages: Messages) -> None:
        """Add messages that follow a range, or those that were added before."""
        if messages.partition not in self._wanted:
            return
        self._room -= sum(map(len, messages.items))
        if self._room >= 0:
            self._messages.setdefault(messages.partition, []).extend(messages.items)
        else:
            self.forget(messages.partition)

    def forget(self, partition: TopicPartition) -> None:
        """Keep nothing of a partition, such as one whose next messages may not follow those before."""
        self._wanted.pop(partition, None)
        self._messages.pop(partition, None)

    def keep(self) -> None:
        """Keep the messages for the tasks that go on at the ends of the ranges."""
        if self._store is not None:
            self._store.put({range_: self._messages.get(partition, []) for partition, range_ in self._wanted.items()})
