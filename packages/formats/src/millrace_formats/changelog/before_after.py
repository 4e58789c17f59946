"""Messages with the rows before and after a change: Debezium and GoldenGate."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Mapping, Sequence
from itertools import chain, compress
from typing import Any

from millrace.change_dialects import Operation
from millrace.errors import MalformedMessageError
from millrace.unavailable_values import with_old_values
from millrace_formats.changelog.dialect import Layout
from millrace_formats.changelog.exact_rows import ExactRows, Row
from millrace_formats.changelog.row_changes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowChanges
from millrace_formats.shared.fallback_decoder import drop_indices

_ROW_KINDS = {
    Operation.INSERT: bytes([INSERT]),
    Operation.UPDATE: bytes([UPDATE_BEFORE, UPDATE_AFTER]),
    Operation.DELETE: bytes([DELETE]),
}
"""The row kinds of an operation."""

_USED_ROWS = {
    Operation.INSERT: bytes([False, True]),
    Operation.UPDATE: bytes([True, True]),
    Operation.DELETE: bytes([True, False]),
}
"""Two flags: an operation uses the row before, and the row after."""


_UPSERT = ""
"""The name, which no message has, of an update without its old row."""


class BeforeAfterLayout(Layout):
    """``{"before": {...}, "after": {...}, "op": "u"}``; an operation uses only the rows that it needs.

    An old row without columns is a missing one: GoldenGate writes ``{}`` where it does not know the row.
    """

    needs_columns = True

    def row_fields(self, row: type, partial: type) -> Mapping[str, Any]:
        """Return types of whole rows for both."""
        return {"before": row | None, "after": row | None}

    def collect(self, messages: Sequence[Any]) -> RowChanges:
        """Collect the rows of messages; messages that lack a row that they need are left to the exact reader."""
        changes = self._collect(messages, [message.operation for message in messages])
        if not all(changes.rows) and self.upserts:
            changes = self._collect(messages, list(map(self._operation_name, messages)))
        if all(changes.rows):
            return changes
        incomplete = [index for index, message in enumerate(messages) if self._lacks_row(message)]
        rest = drop_indices(messages, incomplete)
        changes = self._collect(rest, list(map(self._operation_name, rest)))
        for index in incomplete:
            changes.counts.insert(index, 0)
        changes.incomplete = incomplete
        return changes

    def _operation_name(self, message: Any) -> str:
        """Return the name of a message's operation; `_UPSERT` of an update that has no old row to read."""
        name: str = message.operation
        is_upsert = self.upserts and message.before is None and self.operations[name] is Operation.UPDATE
        return _UPSERT if is_upsert else name

    def _collect(self, messages: Sequence[Any], names: Sequence[str]) -> RowChanges:
        # In C, without Python bytecode for each message
        rows = chain.from_iterable([(message.before, message.after) for message in messages])
        used = b"".join(map(self._used_rows.__getitem__, names))
        kinds = bytearray().join(map(self._kinds.__getitem__, names))
        counts = array("i", map(self._counts.__getitem__, names))
        return RowChanges(list(compress(rows, used)), kinds, counts)

    def _lacks_row(self, message: Any) -> bool:
        rows = (message.before, message.after)
        return None in compress(rows, self._used_rows[self._operation_name(message)])

    @functools.cached_property
    def _kinds(self) -> Mapping[str, bytes]:
        """The row kinds of an operation, by its name."""
        kinds = {name: _ROW_KINDS[operation] for name, operation in self.operations.items()}
        return {**kinds, _UPSERT: bytes([UPDATE_AFTER])}

    @functools.cached_property
    def _counts(self) -> Mapping[str, int]:
        return {name: len(kinds) for name, kinds in self._kinds.items()}

    @functools.cached_property
    def _used_rows(self) -> Mapping[str, bytes]:
        """By the name of an operation, whether it uses the row before and the row after."""
        used = {name: _USED_ROWS[operation] for name, operation in self.operations.items()}
        return {**used, _UPSERT: _USED_ROWS[Operation.INSERT]}

    def read(self, message: Mapping[str, Any], rows: ExactRows) -> list[tuple[int, Row]]:
        """Read the rows of a message, each with its kind."""
        operation, name = self.operation(message)
        if operation is Operation.INSERT:
            return [(INSERT, self._row("after", message, rows, operation, name))]
        if self.is_upsert(operation, message):
            return [(UPDATE_AFTER, self._row("after", message, rows, operation, name))]
        before = self._row("before", message, rows, operation, name)
        if operation is Operation.DELETE:
            return [(DELETE, before)]
        return [(UPDATE_BEFORE, before), (UPDATE_AFTER, self._row("after", message, rows, operation, name))]

    def frame(self, is_insertion: bool, with_nulls: bool) -> tuple[bytes, bytes]:
        """Return the bytes before and after a row in a message."""
        suffix = self.operation_suffix(is_insertion)
        if is_insertion:
            return (b'{"before":null,"after":' if with_nulls else b'{"after":'), suffix
        return b'{"before":', (b',"after":null' if with_nulls else b"") + suffix

    def _row(self, field: str, message: Mapping[str, Any], rows: ExactRows, operation: Operation, name: str) -> Row:
        value = message.get(field)
        advice = self.messages.row_advice(message) if isinstance(value, str) else ""
        if advice:
            raise MalformedMessageError(f"expected an object, found text: {advice}", field)
        if field == self.messages.after and self.messages.has_placeholders and isinstance(value, dict):
            old = message.get(self.messages.before)
            value = _with_old_values(value, old if isinstance(old, dict) else None, rows, field)
        is_missing = value == {} and field == self.messages.before
        row = None if is_missing else rows.whole(value, field)
        if row is None:
            raise self.messages.missing_row(field, operation, name, message)
        return row


def _with_old_values(
    after: dict[str, Any], before: dict[str, Any] | None, rows: ExactRows, field: str
) -> dict[str, Any]:
    try:
        return with_old_values(after, before, rows.names)
    except MalformedMessageError as error:
        raise error.within(field) from None
