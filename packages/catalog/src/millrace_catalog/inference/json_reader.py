"""Reader of json messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from millrace.change_dialects import SkipReason
from millrace.errors import MalformedMessageError
from millrace.table_names import join_names
from millrace_catalog.inference.json_payload import describe, parse_object, without_envelope
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import Observation, TableChange
from millrace_catalog.inference.options import JsonInferenceOptions
from millrace_catalog.types import DataType


class JsonReader:
    """Read messages that are one row each.

    Args:
        topic: Name of the topic, and of the table unless fields name it.
        options: Options of json.
    """

    format = "json"

    def __init__(self, topic: str, options: JsonInferenceOptions | None = None) -> None:
        self.options = options or JsonInferenceOptions()
        self.fixed: Mapping[str, DataType] = {column.name: column.type for column in self.options.fixed_types}
        self._topic = topic
        self._objects = JsonObjectColumns(self.options, self.options.nesting, self.fixed)

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        row = parse_object(payload)
        if row is None:
            return None
        columns, paths = self._objects.columns_of(row)
        return Observation(self._table(row), columns, paths=paths)

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the row of a message, an insertion; the reason to skip it when it has none.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """
        row = parse_object(payload)
        if row is None:
            return SkipReason.TOMBSTONE
        return TableChange(self._table(row), "c", ((None, self._objects.flatten(row)),), None, row)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's row."""
        return self._objects.columns_of(change.message)[0]

    def _table(self, row: Mapping[str, Any]) -> str:
        names = [_name_part(row, field) for field in self.options.table_fields]
        # The value of a single field is the whole id
        return (names[0] if len(names) == 1 else join_names(names)) if names else self._topic


class JsonKeyReader(JsonReader):
    """Read keys, which name no table and have no schema beside them.

    Args:
        topic: Name of the topic.
        options: Options of json.
    """

    def __init__(self, topic: str, options: JsonInferenceOptions | None = None) -> None:
        super().__init__(topic, replace(options or JsonInferenceOptions(), table_fields=()))

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a key: see `MessageReader.read`."""
        row = parse_object(payload)
        if row is not None and without_envelope(row) is not row:
            raise MalformedMessageError(
                "it has its schema beside it, which the format json does not read: set key.converter.schemas.enable of "
                "the connector to false"
            )
        return super().read(payload)


def _name_part(row: Mapping[str, Any], field: str) -> str:
    value = row.get(field)
    if value is None or isinstance(value, dict | list) or value == "":
        problem = "is missing" if field not in row else f"is {describe(value)}"
        raise MalformedMessageError(f"field {field}, which names the table, {problem}")
    return value if isinstance(value, str) else describe(value)
