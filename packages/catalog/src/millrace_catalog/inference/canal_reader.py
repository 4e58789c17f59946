"""Schemas of canal-json messages, from their rows or from what they tell of their columns' types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from millrace.errors import MalformedMessageError
from millrace.options.java_pattern import java_pattern
from millrace_catalog.inference.jdbc_types import type_of_code
from millrace_catalog.inference.json_payload import object_field, parse_object, shown
from millrace_catalog.inference.mysql_types import mysql_type_reader
from millrace_catalog.inference.observation import Observation, join_rows
from millrace_catalog.inference.options import CanalInferenceOptions
from millrace_catalog.inference.row_types import RowTypes
from millrace_catalog.types import STRING, DataType, Scalar, with_nullability

_FIELDS = {"SQL_TYPE": "sqlType", "MYSQL_TYPE": "mysqlType"}


class CanalReader:
    """Reads changes as Canal writes them. Their table is named in the message, or else after the topic.

    Args:
        topic: The topic.
        options: The options of canal-json.
    """

    format = "canal-json"

    def __init__(self, topic: str, options: CanalInferenceOptions | None = None) -> None:
        self.options = options = options or CanalInferenceOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._topic = topic
        self._rows = RowTypes(options)
        self._patterns = {
            field: java_pattern(pattern)
            for field, pattern in (("database", options.database_include), ("table", options.table_include))
            if pattern is not None
        }
        self._declared = _declared_type(options)

    def read(self, payload: bytes | None) -> Observation | None:
        """What a message says of its table; see `PayloadReader`."""
        message = parse_object(payload)
        if message is None or message.get("isDdl") is True or not self._is_included(message):
            return None
        rows = _rows(message, "data")
        if not rows:
            return None
        rows += _rows(message, "old")
        names = [message[field] for field in ("database", "table") if isinstance(message.get(field), str)]
        return Observation(".".join(names) or self._topic, self._columns(message, rows), _primary_key(message))

    def _is_included(self, message: dict[str, Any]) -> bool:
        for field in self._patterns:
            if field not in message:
                raise MalformedMessageError(f"field {field} is missing, by which messages are chosen")
        found = [(pattern, message[field]) for field, pattern in self._patterns.items()]
        return all(isinstance(name, str) and pattern.fullmatch(name) is not None for pattern, name in found)

    def _columns(self, message: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, DataType]:
        strategy = self.options.strategy
        if strategy == "AUTO" or self.options.primitive_as_string:
            return join_rows(self._rows.of(row)[0] for row in rows)
        field = _FIELDS[strategy]
        declared = object_field(message, field)
        if declared is None:
            raise MalformedMessageError(
                f"field {field} is missing, which tells the types: set canal-json.infer-schema.strategy to AUTO"
            )
        columns: dict[str, DataType] = {}
        for row in rows:
            for name, value in row.items():
                if name not in columns or value is None:
                    columns[name] = with_nullability(self._declared(declared.get(name)), value is None)
        return columns


def _declared_type(options: CanalInferenceOptions) -> Callable[[Any], Scalar]:
    if options.strategy == "SQL_TYPE":
        return lambda code: type_of_code(code) if isinstance(code, int) else STRING
    read = mysql_type_reader(
        timestamp_as_datetime=options.timestamp_as_datetime, tinyint1_as_boolean=options.tinyint1_as_boolean
    )
    return lambda text: read(text) if isinstance(text, str) else STRING


def _rows(message: dict[str, Any], field: str) -> list[dict[str, Any]]:
    rows = message.get(field)
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise MalformedMessageError(f"field {field}: expected an array of rows, found {shown(rows)}")
    found = [row for row in rows if row is not None]
    wrong = next((row for row in found if not isinstance(row, dict)), None)
    if wrong is not None:
        raise MalformedMessageError(f"field {field}: expected rows, found {shown(wrong)}")
    return found


def _primary_key(message: dict[str, Any]) -> tuple[str, ...] | None:
    names = message.get("pkNames")
    if not isinstance(names, list) or not names:
        return None
    if not all(isinstance(name, str) for name in names):
        raise MalformedMessageError(f"field pkNames: expected names of columns, found {shown(names)}")
    return tuple(names)
