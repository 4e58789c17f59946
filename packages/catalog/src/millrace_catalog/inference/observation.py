"""What one message says of the table that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from millrace_catalog.types import DataType, least_common_type

Path = tuple[str, ...]
"""The names of the fields that lead to a value, from the outermost object on."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a message is."""

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"partition {self.partition}, offset {self.offset}"


@dataclass(frozen=True, slots=True)
class Observation:
    """The columns that a message has, exactly as its values are.

    Attributes:
        table: The table's id.
        columns: Their types by name, in the message's order: NOT NULL where there is a value, NULL where it is null. Of
            what the message lacks nothing is said.
        primary_key: The columns of the primary key, where the message tells them.
        paths: Where columns stand in the message, if nested fields become columns; else empty.
    """

    table: str
    columns: dict[str, DataType]
    primary_key: tuple[str, ...] | None = None
    paths: frozenset[Path] = frozenset()


def join_rows(rows: Iterable[dict[str, DataType]]) -> dict[str, DataType]:
    """The columns of several rows, each as wide as all of its values need it."""
    joined: dict[str, DataType] = {}
    for row in rows:
        for name, type_ in row.items():
            known = joined.get(name)
            joined[name] = type_ if known is None else least_common_type(known, type_)
    return joined
