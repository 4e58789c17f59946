"""A cluster's topics as plain numbers, for what is planned by them; real brokers are in the integration tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from millrace.contracts import TopicPartition
from millrace.errors import UnknownTopicError
from millrace.kafka.admin import LogBounds, Topic
from millrace.source.enumerator.truncation_detection import EpochPosition

Offsets = dict[TopicPartition, int]


class Log:
    """A log of some topics: begin and end of their partitions, which tests change.

    Attributes:
        logs: Begin and end of each partition.
        ids: The topics' ids, where they are not `id of <name>`.
        not_visible: Where the log ends of partitions with transactions that are open.
        leader_epochs: The epochs of the partitions' leaders, where they are known.
        truncated: Where logs were truncated since an epoch before; see `truncations`.
        groups: What the consumer group has committed.
        requests: What was asked for, in order.
    """

    def __init__(self, logs: dict[TopicPartition, tuple[int, int]]) -> None:
        self.logs = logs
        self.ids: dict[str, str] = {}
        self.not_visible: Offsets = {}
        self.leader_epochs: Offsets = {}
        self.truncated: Offsets = {}
        self.groups: Offsets = {}
        self.requests: list[str] = []

    @classmethod
    def of_topics(cls, **partition_counts: int) -> Log:
        """Make a log of empty topics, by name and number of partitions."""
        empty = {TopicPartition(name, n): (0, 0) for name, count in partition_counts.items() for n in range(count)}
        return cls(empty)

    def topic_names(self) -> list[str]:
        return sorted({partition.topic for partition in self.logs})

    def topics(self, names: Iterable[str], allow_missing: Collection[str] = ()) -> dict[str, Topic]:
        self.requests.append("topics")
        found = {}
        for name in names:
            count = sum(partition.topic == name for partition in self.logs)
            if count:
                found[name] = Topic(count, self.ids.get(name, f"id of {name}"))
            elif name not in allow_missing:
                raise UnknownTopicError(name)
        return found

    def begin(self, partitions: Collection[TopicPartition]) -> Offsets:
        return self.bounds(partitions).begin

    def end(self, partitions: Collection[TopicPartition]) -> Offsets:
        return self.bounds(partitions).end

    def high_watermarks(self, partitions: Collection[TopicPartition]) -> Offsets:
        return {p: max(self.logs[p][1], self.not_visible.get(p, 0)) for p in partitions}

    def bounds(self, partitions: Collection[TopicPartition], *, with_high_watermarks: bool = False) -> LogBounds:
        self.requests.append("offsets")
        if not set(partitions) <= set(self.logs):
            raise UnknownTopicError("gone")
        return LogBounds(
            {p: self.logs[p][0] for p in partitions},
            {p: self.logs[p][1] for p in partitions},
            {p: epoch for p, epoch in self.leader_epochs.items() if p in partitions},
            self.high_watermarks(partitions) if with_high_watermarks else {},
        )

    def truncations(self, positions: Mapping[TopicPartition, EpochPosition]) -> Offsets:
        self.requests.append("epochs")
        return {p: at for p, at in self.truncated.items() if p in positions and at < positions[p].offset}

    def committed(self, partitions: Collection[TopicPartition]) -> Offsets:
        return {partition: self.groups[partition] for partition in partitions if partition in self.groups}
