"""Figures from the progress reports of a streaming query."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from millrace.checkpoint import parse_reported_offset

Lag = Mapping[tuple[str, int], int]
"""The number of records that are not read yet, by topic and partition."""


@dataclass(frozen=True)
class Batch:
    """A completed micro-batch.

    Attributes:
        number: Its id in the query.
        rows_in: Records read.
        milliseconds: Its duration, from planning to commit.
        lag: The lag after it.
    """

    number: int
    rows_in: int
    milliseconds: int
    lag: Lag


def batch_of(progress: Mapping[str, Any]) -> Batch | None:
    """Return the micro-batch that a ``StreamingQueryProgress`` reports; None when there was nothing to do.

    Args:
        progress: The progress of a query whose only source is millrace's.
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
    """Return how far the end of a micro-batch is behind the end of the topics.

    Args:
        latest: The latest offsets when the micro-batch was planned; as JSON, or already parsed.
        end: The end offsets of the micro-batch, likewise.
    """
    latest_offset, end_offset = parse_reported_offset(latest), parse_reported_offset(end)
    if latest_offset is None:
        return {}
    read = {} if end_offset is None else end_offset.offset.positions
    return {
        partition: max(0, offset - read.get(partition, 0))
        for partition, offset in latest_offset.offset.positions.items()
    }


class Batches:
    """All micro-batches of a query, collected from its overlapping progress reports."""

    def __init__(self) -> None:
        self._durations: list[int] = []
        self.last: Batch | None = None
        """The newest one."""
        self.rows_in = 0
        """Records read by all of them."""

    def __len__(self) -> int:
        return len(self._durations)

    def add(self, progresses: Iterable[Mapping[str, Any]]) -> None:
        """Add the new micro-batches of a query's ``recentProgress``, which has them in order."""
        for progress in progresses:
            batch = batch_of(progress)
            if batch and (self.last is None or batch.number > self.last.number):
                self.last = batch
                self.rows_in += batch.rows_in
                self._durations.append(batch.milliseconds)

    @property
    def median_milliseconds(self) -> float:
        """The median duration of the micro-batches; 0 without any."""
        return median(self._durations) if self._durations else 0.0


class Rate:
    """The growth of a total per second, over the last few seconds.

    Args:
        seconds: The length of the time window.
    """

    def __init__(self, seconds: float = 4.0) -> None:
        self._seconds = seconds
        self._samples: deque[tuple[float, int]] = deque()

    def update(self, now: float, total: int) -> float:
        """Add a sample, and return the growth per second.

        Args:
            now: The time by a monotonic clock, in seconds.
            total: The total at that time.
        """
        self._samples.append((now, total))
        # Keeps the last sample before the window, so that the rate covers the whole window
        while len(self._samples) > 2 and self._samples[1][0] <= now - self._seconds:
            self._samples.popleft()
        start, start_total = self._samples[0]
        return (total - start_total) / (now - start) if now > start else 0.0
