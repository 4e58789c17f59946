"""The parts of a job's plan: reads, writes, and what they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PlannedRange:
    """The offsets of a partition that would be read.

    Attributes:
        topic: Its topic.
        partition: Its number.
        start: The first offset.
        end: The offset after the last one.
        remaining: The number of offsets behind ``end`` that are there already, for later micro-batches.
    """

    topic: str
    partition: int
    start: int
    end: int
    remaining: int = 0

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} [{self.start}, {self.end})"


@dataclass(frozen=True)
class RowCount:
    """A number of rows, or a bound of it.

    Attributes:
        most: The number, or the most that there can be; None where nothing bounds it.
        is_exact: Whether it is the number itself.
        reason: The reason why it is a bound, or how it was found.
    """

    most: int | None
    is_exact: bool
    reason: str

    def __str__(self) -> str:
        if self.most is None:
            return f"an unknown number ({self.reason})"
        return f"{self.most:,}" if self.is_exact else f"at most {self.most:,} ({self.reason})"


@dataclass(frozen=True)
class TimeSpan:
    """The timestamps of the messages that would be read, in ms since 1970 UTC.

    Attributes:
        first_ms: The earliest.
        last_ms: The latest.
        is_exact: Whether all messages were read; otherwise only the first and the last of each partition.
    """

    first_ms: int
    last_ms: int
    is_exact: bool


@dataclass(frozen=True)
class PlannedColumn:
    """A column of a read, with types as Spark's SQL writes them.

    Attributes:
        name: Its name.
        declared: Its type as the user declares it; None for a column that is not declared.
        found: Its type as the format, a registry or messages have it; None for a column that they lack.
        difference: The difference between the two, as a sentence; empty without one.
    """

    name: str
    declared: str | None
    found: str | None
    difference: str = ""


@dataclass(frozen=True)
class PlannedCreation:
    """A thing that a run would create.

    Attributes:
        kind: Its kind: topic, consumer group, folder.
        name: Its name.
        detail: How it would be created.
    """

    kind: str
    name: str
    detail: str = ""


@dataclass(frozen=True)
class PlannedPermission:
    """An operation that a run needs to be allowed (an ACL).

    Attributes:
        resource: The kind of the resource: topic, group, transactional id or cluster.
        name: Its name.
        operation: Kafka's name of the operation.
        is_prefix: Whether it is needed for all resources whose names begin so.
        is_allowed: Whether the brokers allow it now; None where they were not asked or do not tell.
    """

    resource: str
    name: str
    operation: str
    is_prefix: bool = False
    is_allowed: bool | None = None


@dataclass(frozen=True)
class PlannedOption:
    """An option as a run would use it.

    Attributes:
        name: Its name.
        value: Its value; ``***`` for a secret.
        origin: Its origin: option, default, derived, or what the caller says, such as a file.
        detail: More about the origin, such as another name of the option.
    """

    name: str
    value: str
    origin: str
    detail: str = ""


@dataclass(frozen=True)
class PlannedRead:
    """One read of a job.

    Attributes:
        name: The topics, their pattern, or the table.
        mode: Whether it reads a batch or the next micro-batch of a stream.
        start: The place where it begins, in words.
        ranges: The offsets that it would read; those of a stream are of its next micro-batch.
        splits: The same for each task; a task may read several ranges.
        tasks: The number of tasks, input partitions of Spark; a batch without messages has an empty one.
        messages: The number of messages.
        rows: The number of rows that come of them.
        span: The time span of the messages; None where there are none.
        columns: Its columns, with differences.
        filters: The filters by which it reads fewer offsets, in words; empty without any.
    """

    name: str
    mode: Literal["batch", "stream"]
    start: str = ""
    ranges: tuple[PlannedRange, ...] = ()
    splits: tuple[tuple[PlannedRange, ...], ...] = ()
    tasks: int = 0
    messages: RowCount | None = None
    rows: RowCount | None = None
    span: TimeSpan | None = None
    columns: tuple[PlannedColumn, ...] = ()
    filters: str = ""


@dataclass(frozen=True)
class PlannedWrite:
    """One write of a job.

    Attributes:
        name: The topics, their pattern, or the table.
        guarantee: The delivery guarantee.
        exists: Whether all that it writes to is there; None where that is not known.
        transactional_ids: The transactional ids, or the pattern of them.
    """

    name: str
    guarantee: str
    exists: bool | None = None
    transactional_ids: tuple[str, ...] = ()
