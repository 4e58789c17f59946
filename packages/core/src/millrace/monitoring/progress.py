"""The metrics of a source in a query's progress, which Spark carries as JSON beside the latest offset.

No other module knows that JSON: the driver writes it, and the user's process reads it, wherever that runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from millrace.checkpoint import Offsets, flatten_by_topic, nest_by_topic
from millrace.contracts import TopicPartition
from millrace.monitoring.split_report import PartitionCounts


@dataclass(frozen=True)
class ReadProgress:
    """Metrics of what executors have read.

    Attributes:
        partitions: What was read since the process began, by partition.
        records_per_second: The rate of the last micro-batch that has ended.
        bytes_per_second: The rate of the last micro-batch that has ended.
        idle_ms: The time since the last micro-batch ended, or since the process began.
        missing: The number of splits whose reports did not come.
        clients: The statistics of the Kafka clients, by their names.
    """

    partitions: Mapping[TopicPartition, PartitionCounts] = field(default_factory=dict)
    records_per_second: float = 0.0
    bytes_per_second: float = 0.0
    idle_ms: int = 0
    missing: int = 0
    clients: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as they stand in a progress."""
        partitions: dict[str, dict[str, list[int | None]]] = {}
        for (topic, partition), counts in sorted(self.partitions.items()):
            partitions.setdefault(topic, {})[str(partition)] = counts.to_list()
        return {
            "partitions": partitions,
            "records_per_second": self.records_per_second,
            "bytes_per_second": self.bytes_per_second,
            "idle_ms": self.idle_ms,
            "missing": self.missing,
            "clients": self.clients,
        }

    @classmethod
    def from_json(cls, reported: Mapping[str, Any]) -> ReadProgress:
        """Parse the metrics of a progress; what it lacks is zero."""
        partitions = {
            TopicPartition(topic, int(number)): PartitionCounts(*counts)
            for topic, by_number in reported.get("partitions", {}).items()
            for number, counts in by_number.items()
        }
        names = ("records_per_second", "bytes_per_second", "idle_ms", "missing", "clients")
        return cls(partitions, **{name: reported[name] for name in names if name in reported})


@dataclass(frozen=True)
class GroupProgress:
    """Metrics of commits to a consumer group.

    Attributes:
        committed: The offsets of the newest commit that succeeded.
        commits_succeeded: The number of commits that succeeded.
        commits_failed: The number of commits that failed.
    """

    committed: Offsets = field(default_factory=dict)
    commits_succeeded: int = 0
    commits_failed: int = 0


@dataclass(frozen=True)
class PlanProgress:
    """Metrics of what the driver has planned.

    Attributes:
        skipped: The number of offsets that were skipped because they are gone.
        group: The commits to the consumer group; None for a stream that commits nothing.
        high_watermarks: The offset after the last record of each partition whose last records are not visible yet,
            since transactions are open.
        held_back: The reason why the last micro-batch did not take all that was available; empty where it did.
    """

    skipped: int = 0
    group: GroupProgress | None = None
    high_watermarks: Offsets = field(default_factory=dict)
    held_back: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as they stand in a progress."""
        optional: dict[str, Any] = {}
        if self.high_watermarks:
            optional["high_watermarks"] = nest_by_topic(self.high_watermarks)
        if self.held_back:
            optional["held_back"] = self.held_back
        if self.group is None:
            return {"skipped": self.skipped, **optional}
        return {
            "skipped": self.skipped,
            **optional,
            "committed": nest_by_topic(self.group.committed),
            "commits_succeeded": self.group.commits_succeeded,
            "commits_failed": self.group.commits_failed,
        }

    @classmethod
    def from_json(cls, reported: Mapping[str, Any]) -> PlanProgress:
        """Parse the metrics of a progress; what it lacks is zero."""
        group = GroupProgress(
            flatten_by_topic(reported.get("committed", {})),
            reported.get("commits_succeeded", 0),
            reported.get("commits_failed", 0),
        )
        watermarks = flatten_by_topic(reported.get("high_watermarks", {}))
        return cls(reported.get("skipped", 0), group, watermarks, reported.get("held_back", ""))
