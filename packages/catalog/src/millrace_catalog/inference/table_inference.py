"""Inference of one table, message by message."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import SchemaError
from millrace_catalog.inference.observation import Observation, Path, Position
from millrace_catalog.inference.result import Evidence, InferredColumn, InferredTable
from millrace_catalog.types import NULL, DataType, least_common_type, resolve_unknown
from millrace_catalog.types.model import count_columns
from millrace_catalog.types.widen import deeply_nullable


class TableInference:
    """Infer the columns and primary key of one table.

    Args:
        name: Id of the table.
        fixed: Types of the columns that are not inferred, by name.
        max_columns: Maximum number of columns, fields within columns included.
    """

    def __init__(self, name: str, fixed: Mapping[str, DataType], max_columns: int) -> None:
        self._name = name
        self._fixed = fixed
        self._max_columns = max_columns
        self._columns: dict[str, _ColumnType] = {}
        self._count = 0
        self._paths: set[Path] = set()
        self._key: tuple[tuple[str, ...], Position] | None = None
        self._messages = 0

    def add(self, observation: Observation, position: Position) -> None:
        """Add the columns of a message.

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
                columns[name] = _ColumnType(type_, position)
                self._count += columns[name].count
            elif type_ is not column.last:
                self._count += column.widen(type_, position)
        if self._count > self._max_columns:
            raise SchemaError(
                f"table {self._name!r} has {self._count} columns, fields within columns included, at {position}, more "
                f"than option 'infer-schema.max-columns' allows ({self._max_columns}): raise it, or read nested "
                f"objects and names that are data as STRING or MAP"
            )

    def result(self) -> InferredTable:
        """Return the table inferred so far."""
        paths: dict[str, list[Path]] = {}
        for path in sorted(self._paths):
            paths.setdefault(".".join(path), []).append(path)
        names = [name for name in self._columns if not self._is_null_of_flattened_object(name)]
        columns = tuple(self._column(name, tuple(paths.get(name, [(name,)]))) for name in names)
        return InferredTable(self._name, columns, self._key[0] if self._key else (), self._messages)

    def _column(self, name: str, paths: tuple[Path, ...]) -> InferredColumn:
        column, fixed = self._columns[name], self._fixed.get(name)
        return InferredColumn(
            name, fixed or resolve_unknown(column.type), tuple(column.evidence), paths, fixed is not None
        )

    def _is_null_of_flattened_object(self, name: str) -> bool:
        """Return whether a column is only the null of an object whose fields have become columns of their own."""
        if not self._paths or self._columns[name].type != NULL:
            return False
        return any(other.startswith(f"{name}.") for other in self._columns)

    def _check_key(self, key: tuple[str, ...] | None, position: Position) -> None:
        if key is None:
            return
        if self._key is None:
            self._key = key, position
        elif self._key[0] != key:
            first_key, first_position = self._key
            raise SchemaError(
                f"table {self._name!r} has the primary key ({', '.join(first_key)}) at {first_position}, and "
                f"({', '.join(key)}) at {position}; primary keys cannot change: read the topic from after that change"
            )


class _ColumnType:
    """The type of a column so far."""

    def __init__(self, type_: DataType, position: Position) -> None:
        self.type = self.last = type_
        self.count = count_columns(type_)
        self.evidence = [Evidence(deeply_nullable(type_), position)]

    def widen(self, type_: DataType, position: Position) -> int:
        """Widen the column to hold another type; return how many columns that adds."""
        self.last = type_
        widened = least_common_type(self.type, type_)
        if widened is self.type:
            return 0
        self.type = widened
        nullable = deeply_nullable(widened)
        if nullable != self.evidence[-1].type:
            self.evidence.append(Evidence(nullable, position))
        before, self.count = self.count, count_columns(widened)
        return self.count - before
