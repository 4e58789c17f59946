"""Messages with the row before and the row after a change: those of Debezium and of GoldenGate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from millrace_formats.bad_message import BadMessageError
from millrace_formats.changelog.changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Changes, Operation
from millrace_formats.changelog.exact_rows import ExactRows, Row
from millrace_formats.changelog.layout import Layout


class Images(Layout):
    """``{"before": {...}, "after": {...}, "op": "u"}``; an operation looks only at the rows that it needs."""

    def shapes(self, row: type, partial: type) -> Mapping[str, Any]:
        """Both are whole rows."""
        return {"before": row | None, "after": row | None}

    def collect(self, messages: Sequence[Any]) -> Changes:
        """The rows of messages; what lacks a row that it needs is left."""
        changes = Changes()
        add, kind, count = changes.rows.append, changes.kinds.append, changes.counts.append
        operations, insert, update = self.operations, Operation.INSERT, Operation.UPDATE
        for message in messages:
            operation = operations[message.operation]
            if operation is insert:
                if message.after is None:
                    changes.leave()
                    continue
                add(message.after)
                kind(INSERT)
                count(1)
            elif message.before is None:
                changes.leave()
            elif operation is update:
                if message.after is None:
                    changes.leave()
                    continue
                add(message.before)
                add(message.after)
                kind(UPDATE_BEFORE)
                kind(UPDATE_AFTER)
                count(2)
            else:
                add(message.before)
                kind(DELETE)
                count(1)
        return changes

    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """The rows of a message, each with its kind."""
        operation, name = self.operation(message)
        if operation is Operation.INSERT:
            return [(INSERT, self._after(message, rows, operation, name))]
        before = rows.whole(message.get("before"), "before")
        if before is None:
            raise BadMessageError(
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
            raise BadMessageError(f"it is null, though the operation is {name!r}, {operation.value}", "after")
        return after
