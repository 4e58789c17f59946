"""A table that is inferred message by message."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import SchemaError
from millrace_catalog.inference.observation import Observation, Path, Position
from millrace_catalog.inference.result import Evidence, InferredColumn, InferredTable
from millrace_catalog.types import NULL, DataType, least_common_type, settled
from millrace_catalog.types.count import count_columns
from millrace_catalog.types.unknown import nullable_throughout


class TableInference:
    """Collects what messages say of a table.

    Args:
        name: The table's id.
        fixed: Types of columns that are not inferred.
        max_columns: How many columns it may have, fields within columns included.
    """

    def __init__(self, name: str, fixed: Mapping[str, DataType], max_columns: int) -> None:
        self._name = name
        self._fixed = fixed
        self._most = max_columns
        self._columns: dict[str, _Column] = {}
        self._count = 0
        self._paths: set[Path] = set()
        self._key: tuple[tuple[str, ...], Position] | None = None
        self._messages = 0

    def add(self, observation: Observation, position: Position) -> None:
        """Take in what a message says.

        Raises:
            SchemaError: The table has too many columns, or another primary key.
        """
        self._messages += 1
        self._check_key(observation.primary_key, position)
        self._paths |= observation.paths
        columns = self._columns
        for name, type_ in observation.columns.items():
            column = columns.get(name)
            if column is None:
                columns[name] = _Column(type_, position)
                self._count += columns[name].count
            elif type_ is not column.last:
                self._count += column.widen(type_, position)
        if self._count > self._most:
            raise SchemaError(
                f"table {self._name!r} has {self._count} columns, fields within columns included, at {position}, more "
                f"than option 'infer-schema.max-columns' allows ({self._most}): raise it, or read nested objects and "
                f"names that are data as STRING or MAP"
            )

    def result(self) -> InferredTable:
        """The table as it is now."""
        paths: dict[str, list[Path]] = {}
        for path in sorted(self._paths):
            paths.setdefault(".".join(path), []).append(path)
        names = [name for name in self._columns if not self._is_only_the_null_of_an_object(name)]
        columns = tuple(self._column(name, tuple(paths.get(name, [(name,)]))) for name in names)
        return InferredTable(self._name, columns, self._key[0] if self._key else (), self._messages)

    def _column(self, name: str, paths: tuple[Path, ...]) -> InferredColumn:
        column, fixed = self._columns[name], self._fixed.get(name)
        return InferredColumn(name, fixed or settled(column.type), tuple(column.evidence), paths, fixed is not None)

    def _is_only_the_null_of_an_object(self, name: str) -> bool:
        """Whether nested fields became columns of their own and this is what is left of their object."""
        if not self._paths or self._columns[name].type != NULL:
            return False
        return any(other.startswith(f"{name}.") for other in self._columns)

    def _check_key(self, key: tuple[str, ...] | None, position: Position) -> None:
        if key is None:
            return
        if self._key is None:
            self._key = key, position
        elif self._key[0] != key:
            known, where = self._key
            raise SchemaError(
                f"table {self._name!r} has the primary key ({', '.join(known)}) at {where}, and ({', '.join(key)}) at "
                f"{position}; a change of constraints cannot be followed: read the topic from behind it"
            )


class _Column:
    """A column's type so far."""

    def __init__(self, type_: DataType, position: Position) -> None:
        self.type = self.last = type_
        self.count = count_columns(type_)
        self.evidence = [Evidence(nullable_throughout(type_), position)]

    def widen(self, type_: DataType, position: Position) -> int:
        """Let the column hold values of another type too; how many columns more it is worth."""
        self.last = type_
        wide = least_common_type(self.type, type_)
        if wide is self.type:
            return 0
        self.type = wide
        shown = nullable_throughout(wide)
        if shown != self.evidence[-1].type:
            self.evidence.append(Evidence(shown, position))
        before, self.count = self.count, count_columns(wide)
        return self.count - before
