"""Sessions of Spark in this process, and waiting for their streaming queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def local_session(attempts: int, cores: int = 2) -> Iterator[SparkSession]:
    """Run a session.

    Args:
        attempts: How often a task is tried. Each test of an error waits for all of them.
        cores: The number of tasks at a time.
    """
    import millrace

    master = f"local[{cores},{attempts}]"
    session = millrace.local_session("millrace tests", cores=cores, config={"spark.master": master})
    yield session
    session.stop()


def wait_for_batches_with_rows(query: Any, count: int = 1) -> None:
    """Return when a query has done ``count`` more micro-batches, the last one with rows; fail at once when it fails."""
    seen = query.lastProgress.batchId if query.lastProgress else -1

    def is_ahead() -> bool:
        assert query.isActive, query.exception()
        progress = query.lastProgress
        return bool(progress and progress.batchId >= seen + count and progress.numInputRows)

    wait_until(is_ahead, f"{count} more micro-batches")
