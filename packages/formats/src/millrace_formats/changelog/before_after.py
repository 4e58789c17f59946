"""Messages with the row before and the row after a change: those of Debezium and of GoldenGate."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Mapping, Sequence
from itertools import chain, compress
from typing import Any

from millrace.errors import MalformedMessageError
from millrace_formats.changelog.dialect import Layout
from millrace_formats.changelog.exact_rows import ExactRows, Row
from millrace_formats.changelog.row_changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Changes, Operation
from millrace_formats.shared.fallback_decoder import drop_indices

_KINDS = {
    Operation.INSERT: bytes([INSERT]),
    Operation.UPDATE: bytes([UPDATE_BEFORE, UPDATE_AFTER]),
    Operation.DELETE: bytes([DELETE]),
    Operation.NOTHING: b"",
}
"""The kinds of its rows."""

_LOOKED_AT = {
    Operation.INSERT: bytes([False, True]),
    Operation.UPDATE: bytes([True, True]),
    Operation.DELETE: bytes([True, False]),
    Operation.NOTHING: bytes([False, False]),
}
"""Whether it looks at the row before, and at that after."""


class Images(Layout):
    """``{"before": {...}, "after": {...}, "op": "u"}``; an operation looks only at the rows that it needs."""

    def shapes(self, row: type, partial: type) -> Mapping[str, Any]:
        """Both are whole rows."""
        return {"before": row | None, "after": row | None}

    def collect(self, messages: Sequence[Any]) -> Changes:
        """The rows of messages; what lacks a row that it needs is left."""
        changes = self._collect(messages)
        if all(changes.rows):
            return changes
        left = [place for place, message in enumerate(messages) if self._lacks_row(message)]
        changes = self._collect(drop_indices(messages, left))
        for place in left:
            changes.counts.insert(place, 0)
        changes.left = left
        return changes

    def _collect(self, messages: Sequence[Any]) -> Changes:
        # No step of Python's own for each message: there are very many
        names = [message.operation for message in messages]
        images = chain.from_iterable([(message.before, message.after) for message in messages])
        looked_at = b"".join(map(self._looked_at.__getitem__, names))
        kinds = bytearray().join(map(self._kinds.__getitem__, names))
        counts = array("i", map(self._counts.__getitem__, names))
        return Changes(list(compress(images, looked_at)), kinds, counts)

    def _lacks_row(self, message: Any) -> bool:
        images = (message.before, message.after)
        return None in compress(images, self._looked_at[message.operation])

    @functools.cached_property
    def _kinds(self) -> Mapping[str, bytes]:
        """The kinds of the rows of an operation, by its name."""
        return {name: _KINDS[known] for name, known in self.operations.items()}

    @functools.cached_property
    def _counts(self) -> Mapping[str, int]:
        return {name: len(kinds) for name, kinds in self._kinds.items()}

    @functools.cached_property
    def _looked_at(self) -> Mapping[str, bytes]:
        """Whether an operation looks at the row before and at that after."""
        return {name: _LOOKED_AT[known] for name, known in self.operations.items()}

    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """The rows of a message, each with its kind."""
        operation, name = self.operation(message)
        if operation is Operation.INSERT:
            return [(INSERT, self._after(message, rows, operation, name))]
        before = rows.whole(message.get("before"), "before")
        if before is None:
            raise MalformedMessageError(
                f"it is null, though the operation is {name!r}, {operation.value}: the database does not tell the old "
                f"row. In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL",
                "before",
            )
        if operation is Operation.DELETE:
            return [(DELETE, before)]
        return [(UPDATE_BEFORE, before), (UPDATE_AFTER, self._after(message, rows, operation, name))]

    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """What stands before and behind a row when it is written."""
        operation = self.written(is_insertion)
        if is_insertion:
            return (b'{"before":null,"after":' if with_nulls else b'{"after":'), operation
        return b'{"before":', (b',"after":null' if with_nulls else b"") + operation

    def _after(self, message: Mapping[str, Any], rows: ExactRows, operation: Operation, name: str) -> Row:
        after = rows.whole(message.get("after"), "after")
        if after is None:
            raise MalformedMessageError(f"it is null, though the operation is {name!r}, {operation.value}", "after")
        return after
