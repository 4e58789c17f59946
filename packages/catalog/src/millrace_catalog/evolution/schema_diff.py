"""Difference between the columns of a table and those that a message needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from millrace_catalog.evolution.changes import AlteredColumn
from millrace_catalog.evolution.type_fit import drops_not_null, fitting_type, new_type
from millrace_catalog.types import Column, DataType
from millrace_catalog.types.identifiers import quote_name


@dataclass(frozen=True)
class RequiredChanges:
    """Changes of a table's columns that a message requires.

    Attributes:
        added: Columns that the table lacks.
        altered: Columns that are too narrow.
        nulled: Columns among the altered ones that are NOT NULL and for which the message has NULL.
    """

    added: tuple[Column, ...]
    altered: tuple[AlteredColumn, ...]
    nulled: tuple[AlteredColumn, ...]

    def __str__(self) -> str:
        parts = [f"{column} is new" for column in self.added]
        parts += [f"{quote_name(column.name)} is {column.before} and must be {column.after}" for column in self.altered]
        return ", ".join(parts)


class SchemaDiff:
    """Compare the columns of messages with those of a table, and remember which types the table's columns hold.

    Args:
        types: Types of the table's columns by name.
    """

    def __init__(self, types: Mapping[str, DataType]) -> None:
        self._types = types
        self._fitting: dict[str, DataType] = {}

    def update(self, types: Mapping[str, DataType]) -> None:
        """Replace the table's columns by more or wider ones."""
        self._types = types

    def required_by(self, columns: Mapping[str, DataType]) -> RequiredChanges | None:
        """Return the changes that a message with these columns requires; None when the table holds it already."""
        fitting = self._fitting
        unseen = {name: type_ for name, type_ in columns.items() if fitting.get(name) is not type_}
        if not unseen:
            return None
        required = self._compare(unseen)
        if required.added or required.altered:
            return required
        fitting.update(unseen)
        return None

    def _compare(self, columns: Mapping[str, DataType]) -> RequiredChanges:
        added: list[Column] = []
        altered: list[AlteredColumn] = []
        for name, type_ in columns.items():
            before = self._types.get(name)
            if before is None:
                after = new_type(type_)
                added += [] if after is None else [Column(name, after)]
            elif (after := fitting_type(before, type_)) != before:
                altered.append(AlteredColumn(name, before, after))
        nulled = tuple(column for column in altered if drops_not_null(column.before, column.after))
        return RequiredChanges(tuple(added), tuple(altered), nulled)
