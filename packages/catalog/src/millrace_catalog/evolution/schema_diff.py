"""What a table's columns lack to hold a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from millrace_catalog.evolution.changes import AlteredColumn
from millrace_catalog.evolution.type_fit import fitting_type, loosens, new_type
from millrace_catalog.types import Column, DataType
from millrace_catalog.types.names import quoted


@dataclass(frozen=True)
class Needed:
    """What a message needs.

    Attributes:
        added: The columns that are missing.
        altered: Those that are too narrow.
        loosened: The columns among these that are NOT NULL, for which it has NULL.
    """

    added: tuple[Column, ...]
    altered: tuple[AlteredColumn, ...]
    loosened: tuple[AlteredColumn, ...]

    def __str__(self) -> str:
        parts = [f"{column} is new" for column in self.added]
        parts += [f"{quoted(each.name)} is {each.before} and must be {each.after}" for each in self.altered]
        return ", ".join(parts)


class Needs:
    """Tells what a table needs to hold messages, and remembers which types its columns hold.

    Args:
        types: The types of its columns by name.
    """

    def __init__(self, types: Mapping[str, DataType]) -> None:
        self._types = types
        self._fitting: dict[str, DataType] = {}

    def grow(self, types: Mapping[str, DataType]) -> None:
        """Take note that the table has further columns, or wider ones."""
        self._types = types

    def of(self, columns: Mapping[str, DataType]) -> Needed | None:
        """What the table needs for a message with these columns; None when it holds it already."""
        fitting = self._fitting
        unseen = {name: type_ for name, type_ in columns.items() if fitting.get(name) is not type_}
        if not unseen:
            return None
        needed = self._needed(unseen)
        if needed.added or needed.altered:
            return needed
        fitting.update(unseen)
        return None

    def _needed(self, columns: Mapping[str, DataType]) -> Needed:
        added: list[Column] = []
        altered: list[AlteredColumn] = []
        for name, type_ in columns.items():
            before = self._types.get(name)
            if before is None:
                after = new_type(type_)
                added += [] if after is None else [Column(name, after)]
            elif (after := fitting_type(before, type_)) != before:
                altered.append(AlteredColumn(name, before, after))
        return Needed(tuple(added), tuple(altered), tuple(each for each in altered if loosens(each.before, each.after)))
