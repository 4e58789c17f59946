"""Running queries, together: waiting, their state, cancelling them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from millrace_sql.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

T = TypeVar("T")
_PAUSE_S = 0.05


class JobStatus(Enum):
    """State of a job, named as Flink's."""

    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"


class Job:
    """The queries of one statement.

    Args:
        queries: The queries.
        on_end: Called once, when they have ended and that was noticed, to remove what was only for them.
        on_cancel: Called before they are stopped, to let go of what they wait for.
    """

    def __init__(
        self,
        queries: Sequence[StreamingQuery],
        on_end: Callable[[], None] | None = None,
        on_cancel: Callable[[], None] | None = None,
    ) -> None:
        self.queries = tuple(queries)
        self._on_end = on_end
        self._on_cancel = on_cancel
        self._is_cancelled = False

    def status(self) -> JobStatus:
        """Return the state: failed when one query is, running while one is."""
        if any(query.exception() is not None for query in self.queries):
            return JobStatus.FAILED
        if any(query.isActive for query in self.queries):
            return JobStatus.RUNNING
        return JobStatus.CANCELED if self._is_cancelled else JobStatus.FINISHED

    def has_ended(self) -> bool:
        """Return whether no query runs any more."""
        return not any(query.isActive for query in self.queries)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until all queries have ended. When one fails, stop the others.

        Args:
            timeout_s: How long to wait, in seconds; unlimited by default.

        Returns:
            Whether they have ended.

        Raises:
            StreamingQueryException: One has failed.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while self.status() is JobStatus.RUNNING:
            if deadline is not None and time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        self._stop()
        for query in self.queries:
            failure = query.exception()
            if failure is not None:
                raise failure
        return True

    def cancel(self) -> None:
        """Stop all queries."""
        self._is_cancelled = self._is_cancelled or self.status() is JobStatus.RUNNING
        if self._on_cancel is not None:
            self._on_cancel()
        self._stop()

    def _stop(self) -> None:
        for query in self.queries:
            if query.isActive:
                query.stop()
        if self._on_end is not None:
            self._on_end()
            self._on_end = None


class JobClient:
    """A handle of a statement's queries, for PyFlink users: its methods return futures that are done.

    Args:
        job: The queries.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    def get_job_id(self) -> str:
        """Return the id of the first query, which stays the same when it goes on from its checkpoint."""
        return str(self._job.queries[0].id)

    def get_job_status(self) -> Future[JobStatus]:
        """Return the state of the queries."""
        return _done(self._job.status)

    def cancel(self) -> Future[None]:
        """Stop the queries."""
        return _done(self._job.cancel)

    def get_job_execution_result(self) -> Future[None]:
        """Wait for the end of the queries."""
        return _done(self._wait)

    def _wait(self) -> None:
        self._job.wait()

    def stop_with_savepoint(self, *_: object) -> None:
        """Refuse: a stream has no savepoints.

        Raises:
            SqlError: Always.
        """
        raise SqlError(
            "Spark's streams have checkpoints, no savepoints: cancel(), and run the statement again to continue"
        )


def _done(call: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
    return future
