"""What was inferred, and which messages say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_catalog.inference.observation import Path, Position
from millrace_catalog.types import Column, DataType, Schema


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that made a column's type another one.

    Attributes:
        type: The type that it has from then on; NULL while all values are null.
        position: Where the message is.
    """

    type: DataType
    position: Position

    def __str__(self) -> str:
        return f"{self.type} since {self.position}"


@dataclass(frozen=True)
class InferredColumn:
    """A column.

    Attributes:
        name: Its name.
        type: Its type, nullable unless it is fixed; STRING when all values are null.
        evidence: The messages that made it what it is, in the order in which they were looked at; the first is the
            first one that has the column.
        paths: Where it stands in messages: one path of names, or more when nested fields become columns and a field's
            own name has a point, so that it is the same as a path's.
        is_fixed: Whether the user has said its type.
    """

    name: str
    type: DataType
    evidence: tuple[Evidence, ...]
    paths: tuple[Path, ...]
    is_fixed: bool = False


@dataclass(frozen=True)
class InferredTable:
    """A table.

    Attributes:
        name: Its id: the topic's name, or what messages say.
        columns: Its columns, in the order in which they were met.
        primary_key: The columns of its primary key, where messages tell them.
        messages: How many messages belong to it.
    """

    name: str
    columns: tuple[InferredColumn, ...]
    primary_key: tuple[str, ...] = ()
    messages: int = 0

    @property
    def schema(self) -> Schema:
        """The columns with their types."""
        return Schema(tuple(Column(column.name, column.type) for column in self.columns))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A message that was left out, and why."""

    position: Position
    reason: str


@dataclass(frozen=True)
class Inferred:
    """What the messages of a topic say.

    Attributes:
        tables: The tables by name, in the order in which they were met.
        silent: How many messages say nothing: tombstones, blank ones, and those that are not looked at.
        skipped: The messages that were left out since they cannot be parsed.
    """

    tables: Mapping[str, InferredTable] = field(default_factory=dict)
    silent: int = 0
    skipped: tuple[Skipped, ...] = ()
