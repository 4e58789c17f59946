"""The reports of a parser's tasks: what they have found of tables."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from millrace.change_dialects import SkipReason
from millrace.monitoring.malformed_runs import MalformedRuns
from millrace.wording import counted


class Place(NamedTuple):
    """The place of a message, by which messages are ordered."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"topic {self.topic!r}, partition {self.partition}, offset {self.offset}"


class RequiredColumns(NamedTuple):
    """A message that a table's columns must change for.

    Attributes:
        place: The place of the message.
        columns: Its columns, as SQL.
        primary_key: The primary key that it names.
    """

    place: Place
    columns: str
    primary_key: tuple[str, ...] | None


@dataclass
class TableReport:
    """The findings of a task about one table.

    Attributes:
        rows: The number of rows.
        required: The messages that its columns must change for, in their order.
        newest: The newest timestamp of its messages.
        partitions: Topics and partitions that it was found in.
        fits: Whether all rows have the columns that the table had before, in order.
        truncations: The places of the messages that delete all of its rows, the last one of each partition.
        is_partial: Whether updates lack values that they leave as they were.
        key_problem: Why the keys of its messages make no primary key, where they are to; else empty.
    """

    rows: int = 0
    required: list[RequiredColumns] = field(default_factory=list)
    newest: datetime | None = None
    partitions: set[tuple[str, int]] = field(default_factory=set)
    fits: bool = True
    truncations: list[Place] = field(default_factory=list)
    is_partial: bool = False
    key_problem: str = ""


@dataclass
class TaskFindings:
    """The findings of a task.

    Attributes:
        tables: Of each table.
        malformed: The number of malformed messages that were skipped.
        failed: For tables that cannot change as they need, the place and the reason of the first failure.
        collected: For tables that are paused, the number of messages that went to the collector.
        skipped: The number of messages that were skipped for each reason.
        messages: The number of messages.
        runs: The malformed messages in a row, by partition and the first offset of some messages of it; empty where
            nothing limits them.
    """

    tables: dict[str, TableReport] = field(default_factory=dict)
    malformed: int = 0
    failed: dict[str, tuple[Place, str]] = field(default_factory=dict)
    collected: Counter[str] = field(default_factory=Counter)
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    messages: int = 0
    runs: dict[tuple[tuple[str, int], int], MalformedRuns] = field(default_factory=dict)


def describe_skipped(skipped: Mapping[SkipReason, int]) -> str:
    """Return the numbers of skipped messages by reason, such as ``2 heartbeats, 1 tombstone``."""
    return ", ".join(counted(number, reason) for reason, number in by_reason(skipped).items())


def by_reason(skipped: Mapping[SkipReason, int]) -> dict[str, int]:
    """Return the numbers of skipped messages by the names of their reasons, sorted."""
    return dict(sorted((reason.value, number) for reason, number in skipped.items()))


def read_report(payload: bytes) -> TaskFindings:
    """Read the report of a task, which an executor of the same query has written."""
    report: TaskFindings = pickle.loads(payload)  # noqa: S301
    return report
