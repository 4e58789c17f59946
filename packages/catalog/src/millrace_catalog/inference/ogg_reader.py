"""Reader of ogg-json messages: those of Oracle GoldenGate's JSON formatter, with the rows before and after."""

from __future__ import annotations

from typing import Any

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.image_reader import ImageReader
from millrace_catalog.inference.json_payload import describe, object_field
from millrace_catalog.inference.observation import ChangeOperation, TableChange

_OPERATIONS: dict[Any, ChangeOperation] = {"I": "c", "U": "u", "D": "d", "T": "t"}


class OggReader(ImageReader):
    """Read changes as GoldenGate writes them. The table is named by the message, or else after the topic."""

    format = "ogg-json"

    def change_of(self, message: dict[str, Any]) -> TableChange | None:
        """Return the change of a message; None when it has no rows."""
        name = message.get("op_type")
        operation = _OPERATIONS.get(name) if isinstance(name, str) else None
        if operation is None:
            raise MalformedMessageError(
                f"field op_type: expected one of {', '.join(_OPERATIONS)}, found {describe(name)}"
            )
        before, after = object_field(message, "before"), object_field(message, "after")
        if before is None and after is None and operation != "t":
            return None
        rows = {"t": (), "c": ((None, after),), "u": ((before, after),), "d": ((before, None),)}[operation]
        return TableChange(
            self.table_of(message, ("table",)), operation, rows, self.names_in(message, "primary_keys"), message
        )
