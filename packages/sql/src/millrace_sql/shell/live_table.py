"""The current rows of a stream's result, from its changes."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from millrace.contracts import ROW_KIND_COLUMN
from millrace.wording import counted

if TYPE_CHECKING:
    from millrace_sql.execution.results import TableResult


class LiveTable:
    """The rows that the changes so far have left. One thread applies changes, others may read the rows.

    Args:
        key: The positions of the columns that identify a row; empty for a table of one row; None when nothing
            identifies a row, so that a change names it as a whole.
    """

    def __init__(self, key: Sequence[int] | None = None) -> None:
        self._key = key
        self._rows: dict[Hashable, list[tuple[Any, ...]]] = {}
        self._lock = threading.Lock()
        self.changes = 0

    def apply(self, kind: str, row: tuple[Any, ...]) -> None:
        """Apply a change.

        Args:
            kind: ``+I``, ``-U``, ``+U`` or ``-D``.
            row: The values of its columns.
        """
        identity = _hashable(row if self._key is None else tuple(row[place] for place in self._key))
        with self._lock:
            self.changes += 1
            if kind in ("-U", "-D"):
                self._remove(identity)
            elif self._key is None:
                self._rows.setdefault(identity, []).append(row)
            else:
                # A row that changes goes to the end, where people look for what is new
                self._rows.pop(identity, None)
                self._rows[identity] = [row]

    def _remove(self, identity: Hashable) -> None:
        left = self._rows.get(identity, [])[:-1]
        if left:
            self._rows[identity] = left
        else:
            self._rows.pop(identity, None)

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._rows.values()))

    def newest(self, count: int) -> list[tuple[Any, ...]]:
        """Return the rows that changed last, in the order of their changes.

        Args:
            count: The most rows to return.
        """
        last_rows: list[tuple[Any, ...]] = []
        with self._lock:
            for rows in reversed(self._rows.values()):
                last_rows.extend(reversed(rows))
                if len(last_rows) >= count:
                    break
        return last_rows[:count][::-1]


class LiveResult:
    """The current rows of the query of a stream, as a display shows them.

    Args:
        result: The query's result.

    Attributes:
        columns: The names of its columns.
        table: Its rows so far.
    """

    def __init__(self, result: TableResult) -> None:
        self._result = result
        names = result.get_table_schema().names
        self._kind = names.index(ROW_KIND_COLUMN) if ROW_KIND_COLUMN in names else None
        self._places = [place for place in range(len(names)) if place != self._kind]
        self.columns = [names[place] for place in self._places]
        names = [name.lower() for name in self.columns]
        key = result.upsert_key
        self.table = LiveTable(None if key is None else [names.index(name) for name in key])

    def follow(self) -> None:
        """Apply changes until the stream ends; Ctrl-C ends its query."""
        with self._result.collect() as changes:
            try:
                for change in changes:
                    kind = "+I" if self._kind is None else change[self._kind]
                    self.table.apply(kind, tuple(change[place] for place in self._places))
            except KeyboardInterrupt:
                return

    def counts(self) -> str:
        """Return the numbers of rows and of changes, for people."""
        return f"{counted(len(self.table), 'row')}, {counted(self.table.changes, 'change')}"


def _hashable(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple((_hashable(key), _hashable(map_value)) for key, map_value in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, bytearray):
        return bytes(value)
    return value
