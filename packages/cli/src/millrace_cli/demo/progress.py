"""What a streaming query tells of its progress, as numbers."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

Lag = Mapping[tuple[str, int], int]
"""For each topic and partition how many records wait to be read."""


@dataclass(frozen=True)
class Batch:
    """A micro-batch that is done.

    Attributes:
        number: Its number in the query.
        rows_in: Records read.
        milliseconds: From its planning to its commit.
        lag: What was left to read.
    """

    number: int
    rows_in: int
    milliseconds: int
    lag: Lag


def batch_of(progress: Mapping[str, Any]) -> Batch | None:
    """The micro-batch that a ``StreamingQueryProgress`` tells of; none when it only says that there was nothing to do.

    Args:
        progress: Of a query with one source, which is millrace's.
    """
    durations = progress["durationMs"]
    if "addBatch" not in durations:
        return None
    source = progress["sources"][0]
    return Batch(
        progress["batchId"],
        progress["numInputRows"],
        durations["triggerExecution"],
        lag_of(source["latestOffset"], source["endOffset"]),
    )


def lag_of(latest: str | Mapping[str, Any] | None, end: str | Mapping[str, Any] | None) -> Lag:
    """How far the end of a micro-batch is behind the end of the topics.

    Args:
        latest: The topics' end as the source saw it when the micro-batch was planned; as JSON, or already parsed.
        end: Where the micro-batch ended, likewise.
    """
    read = _next_offsets(end)
    return {partition: max(0, offset - read.get(partition, 0)) for partition, offset in _next_offsets(latest).items()}


class Batches:
    """All micro-batches of a query, collected from what it tells again and again."""

    def __init__(self) -> None:
        self._durations: list[int] = []
        self.last: Batch | None = None
        """The newest one."""
        self.rows_in = 0
        """Records that all of them read."""

    def __len__(self) -> int:
        return len(self._durations)

    def add(self, progresses: Iterable[Mapping[str, Any]]) -> None:
        """Take what is new in a query's ``recentProgress``, which is in the order of the micro-batches."""
        for progress in progresses:
            batch = batch_of(progress)
            if batch and (self.last is None or batch.number > self.last.number):
                self.last = batch
                self.rows_in += batch.rows_in
                self._durations.append(batch.milliseconds)

    @property
    def median_milliseconds(self) -> float:
        """Half of the micro-batches took longer; 0 without any."""
        return median(self._durations) if self._durations else 0.0


class Rate:
    """How fast a total grows, over the last few seconds.

    Args:
        seconds: The time looked back.
    """

    def __init__(self, seconds: float = 4.0) -> None:
        self._seconds = seconds
        self._samples: deque[tuple[float, int]] = deque()

    def update(self, now: float, total: int) -> float:
        """Take a new total, and answer by how much it grew per second.

        Args:
            now: Seconds from some fixed moment on.
            total: The total at that time.
        """
        self._samples.append((now, total))
        # The oldest sample is the last one before the time looked back, so that a young rate is not a jump
        while len(self._samples) > 2 and self._samples[1][0] <= now - self._seconds:
            self._samples.popleft()
        then, before = self._samples[0]
        return (total - before) / (now - then) if now > then else 0.0


def _next_offsets(offset: str | Mapping[str, Any] | None) -> dict[tuple[str, int], int]:
    # As text it is empty where there is none
    parsed = json.loads(offset or "null") if isinstance(offset, str) else offset
    if not parsed:
        return {}
    return {
        (topic, int(partition)): number
        for topic, partitions in parsed["topics"].items()
        for partition, number in partitions.items()
    }
