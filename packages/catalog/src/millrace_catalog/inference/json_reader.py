"""Schemas of json messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millrace.errors import MalformedMessageError
from millrace_catalog.inference.json_payload import parse_object, shown
from millrace_catalog.inference.observation import Observation
from millrace_catalog.inference.options import JsonInferenceOptions
from millrace_catalog.inference.row_types import RowTypes
from millrace_catalog.types import DataType


class JsonReader:
    """Reads messages that are one row each.

    Args:
        topic: The topic, after which the table is named unless fields name it.
        options: The options of json.
    """

    format = "json"

    def __init__(self, topic: str, options: JsonInferenceOptions | None = None) -> None:
        self.options = options or JsonInferenceOptions()
        self.fixed: Mapping[str, DataType] = {column.name: column.type for column in self.options.fixed_types}
        self._topic = topic
        self._rows = RowTypes(self.options, self.options.nesting, self.fixed)

    def read(self, payload: bytes | None) -> Observation | None:
        """What a message says of its table; see `PayloadReader`."""
        row = parse_object(payload)
        if row is None:
            return None
        columns, paths = self._rows.of(row)
        return Observation(self._table(row), columns, paths=paths)

    def _table(self, row: Mapping[str, Any]) -> str:
        return ".".join(_name_part(row, field) for field in self.options.table_fields) or self._topic


def _name_part(row: Mapping[str, Any], field: str) -> str:
    value = row.get(field)
    if value is None or isinstance(value, dict | list) or value == "":
        found = "is missing" if field not in row else f"is {shown(value)}"
        raise MalformedMessageError(f"field {field}, which names the table, {found}")
    return value if isinstance(value, str) else shown(value)
