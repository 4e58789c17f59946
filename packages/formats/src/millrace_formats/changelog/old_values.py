"""Messages with the new row and the old values of its changed fields: Maxwell and Canal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from millrace.change_dialects import Operation
from millrace.errors import MalformedMessageError
from millrace_formats.changelog.dialect import Layout
from millrace_formats.changelog.exact_rows import ExactRows, Row
from millrace_formats.changelog.row_changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowChanges
from millrace_formats.json.parser import shown


class OldValuesLayout(Layout):
    """``{"data": {...}, "old": {...}, "type": "update"}``: what ``old`` lacks has not changed.

    A field that ``old`` has with the value null was NULL before.
    """

    is_partial = True

    def row_fields(self, row: type, partial: type) -> Mapping[str, Any]:
        """Return types of a whole row, and of the old values."""
        return {"data": row | None, "old": partial | None}

    def collect(self, messages: Sequence[Any]) -> RowChanges:
        """Collect the rows of messages; messages that lack a row that they need are left to the exact reader."""
        changes = RowChanges()
        add, kind, count = changes.rows.append, changes.kinds.append, changes.counts.append
        operations, insert, update = self.operations, Operation.INSERT, Operation.UPDATE
        for message in messages:
            operation, data = operations[message.operation], message.data
            lacks_old = operation is update and message.old is None
            if data is None or (lacks_old and not self.upserts):
                changes.add_incomplete()
            elif lacks_old:
                add(data)
                kind(UPDATE_AFTER)
                count(1)
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
        """Read the rows of a message, each with its kind."""
        operation, name = self.operation(message)
        data = rows.whole(message.get("data"), "data")
        if data is None:
            raise self.messages.missing_row("data", operation, name, message)
        if operation is not Operation.UPDATE:
            return [(INSERT if operation is Operation.INSERT else DELETE, data)]
        if self.is_upsert(operation, message):
            return [(UPDATE_AFTER, data)]
        old = rows.overlaid(message.get("old"), data, "old")
        if old is None:
            raise self.messages.missing_row("old", operation, name, message)
        return [(UPDATE_BEFORE, old), (UPDATE_AFTER, data)]

    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """Return the bytes before and after a row in a message."""
        return b'{"data":', self.operation_suffix(is_insertion)


class OldValueListsLayout(OldValuesLayout):
    """``{"data": [{...}], "old": [{...}], "type": "UPDATE"}``: several rows in a message, else as `OldValuesLayout`."""

    def row_fields(self, row: type, partial: type) -> Mapping[str, Any]:
        """Return types of lists of whole rows, and of the old values of each."""
        return {"data": list[row] | None, "old": list[partial] | None}  # type: ignore[valid-type] # types made at run time

    def collect(self, messages: Sequence[Any]) -> RowChanges:
        """Collect the rows of messages; messages that lack a row that they need are left to the exact reader."""
        changes = RowChanges()
        add, kind, count = changes.rows.append, changes.kinds.append, changes.counts.append
        operations, insert, update = self.operations, Operation.INSERT, Operation.UPDATE
        for message in messages:
            operation, data = operations[message.operation], message.data
            is_upsert = self.upserts and operation is update and message.old is None
            if data is None or (operation is update and not is_upsert and not _has_length_of(message.old, data)):
                changes.add_incomplete()
            elif operation is update and not is_upsert:
                for before, after in zip(message.old, data, strict=True):
                    add(before)
                    add(after)
                    kind(UPDATE_BEFORE)
                    kind(UPDATE_AFTER)
                count(2 * len(data))
            else:
                one = UPDATE_AFTER if is_upsert else INSERT if operation is insert else DELETE
                for row in data:
                    add(row)
                    kind(one)
                count(len(data))
        return changes

    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """Read the rows of a message, each with its kind."""
        operation, _ = self.operation(message)
        data = [_required(rows.whole(one, path), path) for path, one in _items(message, "data")]
        if operation is not Operation.UPDATE:
            kind = INSERT if operation is Operation.INSERT else DELETE
            return [(kind, row) for row in data]
        if self.is_upsert(operation, message):
            return [(UPDATE_AFTER, row) for row in data]
        old = list(_items(message, "old"))
        if len(old) < len(data):
            raise MalformedMessageError(f"it has {len(old)} rows, but data has {len(data)}", "old")
        pairs = zip(data, old, strict=False)
        return [change for row, (path, one) in pairs for change in _update(row, rows.overlaid(one, row, path), path)]

    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """Return the bytes before and after a row in a message."""
        return b'{"data":[', b"]" + self.operation_suffix(is_insertion)


def _has_length_of(old: list[Any] | None, data: list[Any]) -> bool:
    return old is not None and len(old) == len(data)


def _update(after: Row, before: Row | None, path: str) -> list[tuple[int, Row]]:
    return [(UPDATE_BEFORE, _required(before, path)), (UPDATE_AFTER, after)]


def _required(row: Row | None, path: str) -> Row:
    if row is None:
        raise MalformedMessageError("there is no row", path)
    return row


def _items(message: Mapping[str, Any], field: str) -> Iterable[tuple[str, Any]]:
    value = message.get(field)
    if not isinstance(value, list):
        raise MalformedMessageError(f"expected an array, found {shown(value)}", field)
    return ((f"{field}[{index}]", item) for index, item in enumerate(value))
