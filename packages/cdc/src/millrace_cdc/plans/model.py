"""The parts of a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from millrace.contracts import PipelineDestination, SchemaChangeType
from millrace_cdc.errors import Problem


@dataclass(frozen=True)
class ColumnEvidence:
    """The origin of a column's type.

    Attributes:
        origin: A message that was read for the plan, the pipeline's file, its database, or its checkpoint.
        topic: The message's topic; None where it is not known.
        partition: Its partition.
        offset: Its offset.
    """

    origin: Literal["message", "file", "database", "checkpoint"]
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        if self.partition is None:
            return f"the {self.origin}"
        place = f"partition {self.partition}, offset {self.offset}"
        return f"topic {self.topic!r}, {place}" if self.topic else f"the {self.origin}, {place}"


@dataclass(frozen=True)
class PlannedTableColumn:
    """A column of one of the source's tables.

    Attributes:
        name: Its name.
        type: Its type, as Flink's SQL.
        evidence: What the type was taken from.
    """

    name: str
    type: str
    evidence: ColumnEvidence


@dataclass(frozen=True)
class PlannedTable:
    """One of the source's tables.

    Attributes:
        id: Its id.
        columns: Its columns.
        primary_key: The columns of its primary key, where messages or the file name it.
        changes: The number of its changes among the messages that were read for the plan.
        targets: The ids of the sink's tables that its rows go to.
    """

    id: str
    columns: tuple[PlannedTableColumn, ...]
    primary_key: tuple[str, ...]
    changes: int
    targets: tuple[str, ...]


@dataclass(frozen=True)
class PlannedTarget:
    """One of the sink's tables.

    Attributes:
        id: Its id.
        columns: The types of its columns, by name.
        primary_key: The columns of its primary key.
        partition_keys: The columns that divide it into partitions.
        schema_changes: The schema changes that the sink would get first, as Flink's SQL.
        destination: What its rows are written to.
    """

    id: str
    columns: Mapping[str, str]
    primary_key: tuple[str, ...]
    partition_keys: tuple[str, ...]
    schema_changes: tuple[str, ...]
    destination: PipelineDestination


@dataclass(frozen=True)
class PlannedRule:
    """A rule of ``route`` or ``transform``.

    Attributes:
        kind: The section that it stands in.
        number: Its number in the section, from 1.
        pattern: Its ``source-table``.
        tables: The ids of the source's tables that it is for, of those that were found.
    """

    kind: Literal["route", "transform"]
    number: int
    pattern: str
    tables: tuple[str, ...]


@dataclass(frozen=True)
class PlannedSchemaChange:
    """A type of schema changes.

    Attributes:
        type: The type.
        is_supported: Whether the sink can apply it.
        is_included: Whether the file includes it.
        outcome: What happens when it comes.
    """

    type: SchemaChangeType
    is_supported: bool
    is_included: bool
    outcome: str


@dataclass(frozen=True)
class PlannedStart:
    """The place where a run goes on.

    Attributes:
        location: The location of the checkpoint.
        batch: The number of the last micro-batch that is done; None where none is.
        repeats: Whether the micro-batch behind it was begun, so that it is repeated.
        offsets: Where the source goes on, as its checkpoint has it: by topic and partition the next offset.
    """

    location: str
    batch: int | None
    repeats: bool
    offsets: Mapping[str, Any]


@dataclass(frozen=True)
class PipelinePlan:
    """The work that a run would do, as far as it can be predicted.

    Attributes:
        name: The name of the pipeline.
        source: The type of its source.
        sink: The type of its sink.
        guarantee: The guarantee of the sink.
        start: Where a run goes on; None where it has no checkpoint.
        tables: The tables that were found.
        targets: The sink's tables.
        rules: The rules of ``route`` and ``transform``.
        schema_changes: The types of schema changes.
        notes: Sentences about what is worth a look.
        problems: What would end a run, and rules that are for no table.
    """

    name: str | None
    source: str
    sink: str
    guarantee: str
    start: PlannedStart | None = None
    tables: tuple[PlannedTable, ...] = ()
    targets: tuple[PlannedTarget, ...] = ()
    rules: tuple[PlannedRule, ...] = ()
    schema_changes: tuple[PlannedSchemaChange, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Return the plan as values of JSON."""
        content = dataclasses.asdict(self)
        content["problems"] = [
            {
                "line": None if problem.position is None else problem.position.line,
                "column": None if problem.position is None else problem.position.column,
                "sentence": problem.sentence,
            }
            for problem in self.problems
        ]
        return content
