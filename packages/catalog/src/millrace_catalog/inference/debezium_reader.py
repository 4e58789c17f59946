"""Reader of debezium-json messages: the rows before and after each change.

The format is that of Debezium's connectors, https://debezium.io/documentation/reference/stable/connectors/.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import describe, object_field, parse_object
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import Observation, TableChange, widen_rows
from millrace_catalog.inference.options import DebeziumInferenceOptions
from millrace_catalog.types import DataType

_OPERATIONS: dict[Any, Literal["c", "u", "d"]] = {"c": "c", "r": "c", "u": "u", "d": "d"}
_TABLE_NAME_FIELDS = ("db", "schema", "table")


class DebeziumReader:
    """Read changes as Debezium writes them. The table is named by ``source``, or else after the topic.

    Args:
        topic: Name of the topic.
        options: Options of debezium-json.
    """

    format = "debezium-json"

    def __init__(self, topic: str, options: DebeziumInferenceOptions | None = None) -> None:
        self.options = options or DebeziumInferenceOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._topic = topic
        self._objects = JsonObjectColumns(self.options)

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        change = self.parse(payload)
        return None if change is None else Observation(change.table, self.columns_of(change))

    def parse(self, payload: bytes | None) -> TableChange | None:
        """Parse the change of a message; None when it has no rows, such as a tombstone.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """
        root = parse_object(payload)
        if root is None:
            return None
        change = self._change(root)
        name = change.get("op")
        operation = _OPERATIONS.get(name) if isinstance(name, str) else None
        if operation is None:
            raise MalformedMessageError(
                f"field op: expected one of {', '.join(_OPERATIONS)}, found {describe(change.get('op'))}"
            )
        before, after = object_field(change, "before"), object_field(change, "after")
        if before is None and after is None:
            return None
        return TableChange(self._table(change), operation, ((before, after),), None, change)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's rows."""
        ((before, after),) = change.rows
        rows = [self._objects.columns_of(row)[0] for row in (before, after) if row is not None]
        return rows[0] if len(rows) == 1 else widen_rows(rows)

    def _change(self, root: dict[str, Any]) -> dict[str, Any]:
        if self.options.schema_include:
            change = object_field(root, "payload")
            if change is None:
                raise MalformedMessageError("field payload is missing: set debezium-json.schema-include to false")
            return change
        if "op" not in root and isinstance(root.get("payload"), dict):
            raise MalformedMessageError("the change is in the field payload: set debezium-json.schema-include to true")
        return root

    def _table(self, change: dict[str, Any]) -> str:
        source = object_field(change, "source") or {}
        names = [source[name] for name in _TABLE_NAME_FIELDS if isinstance(source.get(name), str) and source[name]]
        return ".".join(names) or self._topic
