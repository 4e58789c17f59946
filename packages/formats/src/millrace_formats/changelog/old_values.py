"""Messages with the row as it is now and the values that it had before: those of Maxwell and of Canal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from millrace.errors import MalformedMessageError
from millrace_formats.changelog.dialect import Layout
from millrace_formats.changelog.exact_rows import ExactRows, Row
from millrace_formats.changelog.row_changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Changes, Operation
from millrace_formats.json.parser import shown


class OldValues(Layout):
    """``{"data": {...}, "old": {...}, "type": "update"}``: what ``old`` lacks has not changed.

    A field that ``old`` has with the value null was NULL before.
    """

    is_partial = True

    def shapes(self, row: type, partial: type) -> Mapping[str, Any]:
        """A whole row, and what was other before."""
        return {"data": row | None, "old": partial | None}

    def collect(self, messages: Sequence[Any]) -> Changes:
        """The rows of messages; what lacks a row that it needs is left."""
        changes = Changes()
        add, kind, count = changes.rows.append, changes.kinds.append, changes.counts.append
        operations, insert, update = self.operations, Operation.INSERT, Operation.UPDATE
        for message in messages:
            operation, data = operations[message.operation], message.data
            if data is None or (operation is update and message.old is None):
                changes.leave()
            elif operation is update:
                add(message.old)
                add(data)
                kind(UPDATE_BEFORE)
                kind(UPDATE_AFTER)
                count(2)
            else:
                add(data)
                kind(INSERT if operation is insert else DELETE)
                count(1)
        return changes

    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """The rows of a message, each with its kind."""
        operation, name = self.operation(message)
        if operation is Operation.NOTHING:
            return []
        data = rows.whole(message.get("data"), "data")
        if data is None:
            raise MalformedMessageError(f"it is null, though {self.field} is {name!r}", "data")
        if operation is not Operation.UPDATE:
            return [(INSERT if operation is Operation.INSERT else DELETE, data)]
        return _both(data, rows.overlaid(message.get("old"), data, "old"), "old")

    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """What stands before and behind a row when it is written."""
        return b'{"data":', self.written(is_insertion)


class ManyOldValues(OldValues):
    """The same with several rows in a message: ``{"data": [{...}], "old": [{...}], "type": "UPDATE"}``."""

    def shapes(self, row: type, partial: type) -> Mapping[str, Any]:
        """Whole rows, and what was other before in each."""
        return {"data": list[row] | None, "old": list[partial] | None}  # type: ignore[valid-type]

    def collect(self, messages: Sequence[Any]) -> Changes:
        """The rows of messages; what lacks a row that it needs is left."""
        changes = Changes()
        add, kind, count = changes.rows.append, changes.kinds.append, changes.counts.append
        operations, insert, update = self.operations, Operation.INSERT, Operation.UPDATE
        for message in messages:
            operation, data = operations[message.operation], message.data
            if data is None or (operation is update and not _is_as_long(message.old, data)):
                changes.leave()
            elif operation is update:
                for before, after in zip(message.old, data, strict=True):
                    add(before)
                    add(after)
                    kind(UPDATE_BEFORE)
                    kind(UPDATE_AFTER)
                count(2 * len(data))
            else:
                one = INSERT if operation is insert else DELETE
                for row in data:
                    add(row)
                    kind(one)
                count(len(data))
        return changes

    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """The rows of a message, each with its kind."""
        operation, _ = self.operation(message)
        if operation is Operation.NOTHING:
            return []
        data = [_there(rows.whole(one, path), path) for path, one in _items(message, "data")]
        if operation is not Operation.UPDATE:
            kind = INSERT if operation is Operation.INSERT else DELETE
            return [(kind, row) for row in data]
        old = list(_items(message, "old"))
        if len(old) < len(data):
            raise MalformedMessageError(f"it has {len(old)} rows, but data has {len(data)}", "old")
        pairs = zip(data, old, strict=False)
        return [change for row, (path, one) in pairs for change in _both(row, rows.overlaid(one, row, path), path)]

    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """What stands before and behind a row when it is written."""
        return b'{"data":[', b"]" + self.written(is_insertion)


def _is_as_long(old: list[Any] | None, data: list[Any]) -> bool:
    return old is not None and len(old) == len(data)


def _both(after: Row, before: Row | None, path: str) -> list[tuple[int, Row]]:
    return [(UPDATE_BEFORE, _there(before, path)), (UPDATE_AFTER, after)]


def _there(row: Row | None, path: str) -> Row:
    if row is None:
        raise MalformedMessageError("there is no row", path)
    return row


def _items(message: Mapping[str, Any], field: str) -> Iterable[tuple[str, Any]]:
    value = message.get(field)
    if not isinstance(value, list):
        raise MalformedMessageError(f"expected an array, found {shown(value)}", field)
    return ((f"{field}[{index}]", item) for index, item in enumerate(value))
