"""Inferred tables, with the messages that are the evidence for their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_catalog.inference.observation import Path, Position
from millrace_catalog.types import Column, DataType, Schema


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that changed the type of a column.

    Attributes:
        type: Type of the column from this message on; NULL while all values are null.
        position: Partition and offset of the message.
    """

    type: DataType
    position: Position

    def __str__(self) -> str:
        return f"{self.type} since {self.position}"


@dataclass(frozen=True)
class InferredColumn:
    """An inferred column.

    Attributes:
        name: Name of the column.
        type: Type of the column, nullable unless it is fixed; STRING when all values are null.
        evidence: Messages that changed the type, in the order in which they were read; the first is the first message
            that has the column.
        paths: Paths of the column in messages. There are several if nested fields become columns and the name of a
            field contains a point, so that it equals a path.
        is_fixed: Whether the user gave the type.
    """

    name: str
    type: DataType
    evidence: tuple[Evidence, ...]
    paths: tuple[Path, ...]
    is_fixed: bool = False


@dataclass(frozen=True)
class InferredTable:
    """An inferred table.

    Attributes:
        name: Id of the table: the topic, or the name that messages give.
        columns: Columns in the order of their first message.
        primary_key: Columns of the primary key, if messages name them.
        messages: Number of messages that belong to the table.
    """

    name: str
    columns: tuple[InferredColumn, ...]
    primary_key: tuple[str, ...] = ()
    messages: int = 0

    @property
    def schema(self) -> Schema:
        """Columns with their types."""
        return Schema(tuple(Column(column.name, column.type) for column in self.columns))


@dataclass(frozen=True, slots=True)
class SkippedMessage:
    """A malformed message that was left out."""

    position: Position
    reason: str


@dataclass(frozen=True)
class InferenceResult:
    """The tables of a topic.

    Attributes:
        tables: Tables by name, in the order of their first message.
        empty_messages: Number of messages without columns: tombstones, blank ones, and those that are filtered out.
        skipped: Malformed messages, which were left out.
    """

    tables: Mapping[str, InferredTable] = field(default_factory=dict)
    empty_messages: int = 0
    skipped: tuple[SkippedMessage, ...] = ()
