"""Rows that Debezium's transformation ExtractNewRecordState has flattened, with a field that tells deletions.

See https://debezium.io/documentation/reference/stable/transformations/event-flattening.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from millrace.change_dialects import DEBEZIUM, Operation, SkipReason
from millrace.errors import MalformedMessageError
from millrace_catalog.inference import JsonInferenceOptions, JsonReader
from millrace_catalog.inference.json_payload import describe
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.types import DataType

_DELETED: Mapping[Any, Operation] = {True: Operation.DELETE, False: Operation.INSERT}
_OPERATIONS: Mapping[Any, Operation] = {
    "true": Operation.DELETE,
    "false": Operation.INSERT,
    **DEBEZIUM.operations,
    # It has no old row, and replaces the row of its key
    "u": Operation.INSERT,
}


@dataclass(frozen=True)
class JsonRowOptions(JsonInferenceOptions):
    """Options of json in pipelines.

    Attributes:
        deletion_field: The field that tells deletions; empty for messages that are all insertions.
    """

    deletion_field: str = ""


def json_row_reader(topic: str, options: JsonInferenceOptions) -> JsonReader | FlattenedReader:
    """Return a reader of a topic's rows."""
    if isinstance(options, JsonRowOptions) and options.deletion_field:
        return FlattenedReader(topic, options)
    return JsonReader(topic, options)


class FlattenedReader:
    """Read rows with a field that tells deletions, which is none of their columns.

    Args:
        topic: Name of the topic.
        options: The options.
    """

    def __init__(self, topic: str, options: JsonRowOptions) -> None:
        self._rows = JsonReader(topic, options)
        self._field = options.deletion_field

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the change of a message; the reason to skip it when it has none.

        Raises:
            MalformedMessageError: It is not a message of the format, or its field tells nothing.
        """
        change = self._rows.parse(payload)
        if isinstance(change, SkipReason):
            return change
        operation = self._operation(change.message)
        ((_, row),) = change.rows
        row = {name: value for name, value in (row or {}).items() if name != self._field}
        message = {name: value for name, value in change.message.items() if name != self._field}
        if operation is Operation.TRUNCATE:
            return replace(change, operation="t", rows=(), message=message)
        is_deleted = operation is Operation.DELETE
        rows = ((row, None),) if is_deleted else ((None, row),)
        return replace(change, operation="d" if is_deleted else "c", rows=rows, message=message)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's row."""
        return self._rows.columns_of(change)

    def _operation(self, message: Mapping[str, Any]) -> Operation:
        if self._field not in message:
            raise MalformedMessageError("it is missing, and 'json.decode.deletion.field' names it", self._field)
        value = message[self._field]
        known = _DELETED if isinstance(value, bool) else _OPERATIONS if isinstance(value, str) else {}
        if not known or value not in known:
            names = ", ".join(map(str, _OPERATIONS))
            raise MalformedMessageError(f"expected one of {names}, found {describe(value)}", self._field)
        return known[value]
