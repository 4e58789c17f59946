"""Reader of maxwell-json messages: https://maxwells-daemon.io/dataformat/."""

from __future__ import annotations

from typing import Any

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.image_reader import ImageReader
from millrace_catalog.inference.json_payload import describe, object_field
from millrace_catalog.inference.observation import ChangeOperation, TableChange

_OPERATIONS: dict[Any, ChangeOperation] = {
    "insert": "c",
    "bootstrap-insert": "c",
    "update": "u",
    "delete": "d",
}
_NO_CHANGES = ("bootstrap-", "table-", "database-")
"""Beginnings of the types of other messages: the begin and end of a bootstrap, and statements."""


class MaxwellReader(ImageReader):
    """Read changes as Maxwell writes them. The table is named by the message, or else after the topic."""

    format = "maxwell-json"

    def change_of(self, message: dict[str, Any]) -> TableChange | None:
        """Return the change of a message; None when it is none, such as a statement."""
        name = message.get("type")
        operation = _OPERATIONS.get(name) if isinstance(name, str) else None
        if operation is None:
            if isinstance(name, str) and name.startswith(_NO_CHANGES):
                return None
            raise MalformedMessageError(f"field type: expected one of {', '.join(_OPERATIONS)}, found {describe(name)}")
        data = object_field(message, "data")
        if data is None:
            return None
        old = object_field(message, "old")
        if operation == "u" and old is None:
            raise MalformedMessageError("it is null, though an update has the old values of its columns", "old")
        # An old row has only the values that have changed
        before = data if operation == "d" else None if operation == "c" else data | (old or {})
        rows = ((before, None if operation == "d" else data),)
        key = self.names_in(message, "primary_key_columns")
        return TableChange(self.table_of(message, ("database", "table")), operation, rows, key, message)
