"""Schemas of debezium-json messages, from the rows before and after changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import object_field, parse_object, shown
from millrace_catalog.inference.observation import Observation, join_rows
from millrace_catalog.inference.options import DebeziumInferenceOptions
from millrace_catalog.inference.row_types import RowTypes
from millrace_catalog.types import DataType

_OPERATIONS = ("c", "r", "u", "d")
_NAMES = ("db", "schema", "table")


class DebeziumReader:
    """Reads changes as Debezium writes them. Their table is named in ``source``, or else after the topic.

    Args:
        topic: The topic.
        options: The options of debezium-json.
    """

    format = "debezium-json"

    def __init__(self, topic: str, options: DebeziumInferenceOptions | None = None) -> None:
        self.options = options or DebeziumInferenceOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._topic = topic
        self._rows = RowTypes(self.options)

    def read(self, payload: bytes | None) -> Observation | None:
        """What a message says of its table; see `PayloadReader`."""
        root = parse_object(payload)
        if root is None:
            return None
        change = self._change(root)
        if change.get("op") not in _OPERATIONS:
            raise MalformedMessageError(
                f"field op: expected one of {', '.join(_OPERATIONS)}, found {shown(change.get('op'))}"
            )
        rows = [row for field in ("before", "after") if (row := object_field(change, field)) is not None]
        return Observation(self._table(change), join_rows(self._rows.of(row)[0] for row in rows)) if rows else None

    def _change(self, root: dict[str, Any]) -> dict[str, Any]:
        if self.options.schema_include:
            change = object_field(root, "payload")
            if change is None:
                raise MalformedMessageError("there is no field payload: set debezium-json.schema-include to false")
            return change
        if "op" not in root and isinstance(root.get("payload"), dict):
            raise MalformedMessageError("the change is in the field payload: set debezium-json.schema-include to true")
        return root

    def _table(self, change: dict[str, Any]) -> str:
        source = object_field(change, "source") or {}
        names = [source[name] for name in _NAMES if isinstance(source.get(name), str) and source[name]]
        return ".".join(names) or self._topic
