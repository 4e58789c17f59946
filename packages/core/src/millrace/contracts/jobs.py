"""Jobs that run in this process, such as pipelines and SQL statements, for pages that show them.

A package registers a job when it starts, and a page asks for descriptions. Nothing is described where nobody asks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

MAX_JOBS = 20
"""The number of jobs that are remembered; the oldest are forgotten first."""

JobKind = Literal["pipeline", "sql"]


@dataclass(frozen=True)
class JobTable:
    """A table of a job.

    Attributes:
        name: Its id.
        changes: The number of its changes since the job's start; None where nobody counts them.
        schema_version: The number of its schema changes; None where the job has none.
        age_ms: The age of its newest message in milliseconds; None before the first one.
        paused: The reason for which it is paused; None while it is not.
        collected: The number of its messages that were collected while it was paused.
        topics: The topics that the job reads it from; empty where it is only written, or has a pattern of topics.
        topic_pattern: The pattern of these topics' names, as in the option `topic-pattern`; None where it has none.
    """

    name: str
    changes: int | None = None
    schema_version: int | None = None
    age_ms: int | None = None
    paused: str | None = None
    collected: int = 0
    topics: tuple[str, ...] = ()
    topic_pattern: str | None = None


@dataclass(frozen=True)
class PipelineCounts:
    """Counts of a pipeline since its start.

    Attributes:
        tables: Its tables that had changes, or are paused.
        schema_changes: The number of schema changes that its sink got.
        malformed: The number of malformed messages that were skipped.
    """

    tables: tuple[JobTable, ...] = ()
    schema_changes: int = 0
    malformed: int = 0


@dataclass(frozen=True)
class JobDescription:
    """The state of a job.

    Attributes:
        kind: Whether it is a pipeline or a SQL statement.
        name: Its name.
        query_ids: The ids of its streaming queries.
        is_active: Whether one of them runs.
        tables: Its tables.
        schema_changes: The number of schema changes that its sink got.
        malformed: The number of malformed messages that were skipped.
        statement: Its SQL; empty for a pipeline.
        plan: Its plan as text.
        kafka: Kafka's client properties under Java's names, to look at its topics.
    """

    kind: JobKind
    name: str
    query_ids: tuple[str, ...]
    is_active: bool
    tables: tuple[JobTable, ...] = ()
    schema_changes: int = 0
    malformed: int = 0
    statement: str = ""
    plan: str = ""
    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)


class DescribedJob(Protocol):
    """A job that can be described while it runs, and after its end."""

    def describe(self) -> JobDescription:
        """Return the state of the job now."""


class RunningJobs:
    """The jobs of a process, in the order in which they started."""

    def __init__(self) -> None:
        self._jobs: deque[DescribedJob] = deque(maxlen=MAX_JOBS)
        self._counts: dict[str, Callable[[], PipelineCounts]] = {}
        self._lock = threading.Lock()

    def add(self, job: DescribedJob, counts: Mapping[str, Callable[[], PipelineCounts]] | None = None) -> None:
        """Remember a job that has started.

        Args:
            job: The job.
            counts: Returns what a pipeline has counted, without asking Spark, by the id of its query; None for SQL.
        """
        with self._lock:
            self._jobs.append(job)
            for query_id, count in (counts or {}).items():
                self._counts.pop(query_id, None)
                self._counts[query_id] = count
            while len(self._counts) > MAX_JOBS:
                del self._counts[next(iter(self._counts))]

    def counts(self, query_id: str) -> PipelineCounts | None:
        """Return what the pipeline of a query has counted; None for a query of another kind."""
        count = self._counts.get(query_id)
        return None if count is None else count()

    def descriptions(self) -> list[JobDescription]:
        """Describe all jobs, the newest first."""
        with self._lock:
            jobs = list(self._jobs)
        return [job.describe() for job in reversed(jobs)]


JOBS = RunningJobs()
"""The jobs of this process."""
