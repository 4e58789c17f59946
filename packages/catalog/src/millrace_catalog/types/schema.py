"""The columns of a table, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from millrace_catalog.types.model import Column, DataType
from millrace_catalog.types.names import quoted, repeated


@dataclass(frozen=True)
class Schema:
    """Columns with names of their own; the text of a schema is that of a CREATE TABLE's columns.

    Raises:
        ValueError: Two columns have the same name.
    """

    columns: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        if twice := repeated(self.names):
            raise ValueError(f"expected each column once, but {', '.join(map(quoted, twice))} is repeated")

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __str__(self) -> str:
        return ", ".join(map(str, self.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> dict[str, DataType]:
        """The columns' types by name, in order."""
        return {column.name: column.type for column in self.columns}
