"""The progress of streaming queries in a line each, as commands and terminals show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from millrace.api.metrics import source_metrics
from millrace.wording import counted

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery
    from pyspark.sql.streaming.listener import StreamingQueryProgress


@dataclass(frozen=True)
class QueryProgress:
    """Progress of a query since it started.

    Attributes:
        name: Its name.
        state: ``starting``, ``running``, ``waiting for data``, ``ended`` or ``failed``.
        batches: The micro-batches that it has completed since it started.
        rows: The rows that it has read since then.
        rows_per_second: The rows that it reads in a second.
        lag: The records of its topics that it has not read yet; None when it reads no topic.
    """

    name: str
    state: str
    batches: int = 0
    rows: int = 0
    rows_per_second: float = 0.0
    lag: int | None = None

    @property
    def has_ended(self) -> bool:
        """True when the query runs no more."""
        return self.state in ("ended", "failed")

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.state}"]
        if self.batches:
            counts = f"{counted(self.batches, 'micro-batch')}, {counted(self.rows, 'row')}"
            parts.append(f"{counts}, {self.rows_per_second:,.0f} rows/s")
        if self.lag is not None:
            parts.append(f"lag {self.lag:,}")
        return ", ".join(parts)


class ProgressMonitor:
    """Follow a query by the progress that Spark reports.

    Args:
        query: The query.
        name: What it is called; by default its name, or its id when it has none.
    """

    def __init__(self, query: StreamingQuery, name: str | None = None) -> None:
        self._query = query
        self._seen = -1
        self._latest = QueryProgress(name or str(query.name or query.id), "starting")

    def read(self) -> QueryProgress:
        """Return how far the query is now."""
        # Spark keeps the last 100 progresses, more than micro-batches end between two looks
        for progress in self._query.recentProgress:
            if progress.batchId > self._seen:
                self._add(progress)
        return replace(self._latest, state=self._state())

    def _add(self, progress: StreamingQueryProgress) -> None:
        self._seen = progress.batchId
        sources = source_metrics(progress)
        self._latest = replace(
            self._latest,
            batches=self._latest.batches + 1,
            rows=self._latest.rows + progress.numInputRows,
            rows_per_second=progress.processedRowsPerSecond or 0.0,
            lag=sum(source.pending_records for source in sources) if sources else None,
        )

    def _state(self) -> str:
        if not self._query.isActive:
            return "failed" if self._query.exception() is not None else "ended"
        if self._latest.batches == 0:
            return "starting"
        return "running" if self._query.status["isTriggerActive"] else "waiting for data"
