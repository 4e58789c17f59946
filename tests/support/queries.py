"""Waiting for streaming queries."""

from __future__ import annotations

from typing import Any

from support.waiting import wait_until


def wait_for_batches_with_rows(query: Any, count: int = 1) -> None:
    """Return when a query has done ``count`` more micro-batches, the last one with rows; fail at once when it fails."""
    seen = query.lastProgress.batchId if query.lastProgress else -1

    def is_ahead() -> bool:
        assert query.isActive, query.exception()
        progress = query.lastProgress
        return bool(progress and progress.batchId >= seen + count and progress.numInputRows)

    wait_until(is_ahead, f"{count} more micro-batches")
