"""Reader of canal-json messages: their rows, or the column types that they declare."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from millrace.change_dialects import CANAL, Operation, SkipReason
from millrace.errors import MalformedMessageError
from millrace.options.java_pattern import java_pattern
from millrace_catalog.inference.canal_types import jdbc_type, mysql_type_reader
from millrace_catalog.inference.canal_values import fitting_type_reader
from millrace_catalog.inference.image_reader import primary_key, table_name
from millrace_catalog.inference.json_payload import describe, object_field, parse_object
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import (
    CHANGE_OPERATIONS,
    Observation,
    RowImage,
    TableChange,
    widen_rows,
)
from millrace_catalog.inference.options import CanalInferenceOptions
from millrace_catalog.types import STRING, DataType, ScalarType, least_common_type, with_nullability

_MAX_LATIN_1 = "\xff"
_BINARY = ("BINARY", "VARBINARY")
_TYPE_FIELDS = {"SQL_TYPE": "sqlType", "MYSQL_TYPE": "mysqlType"}


class CanalReader:
    """Read changes as Canal writes them. The table is named by the message, or else after the topic.

    Args:
        topic: Name of the topic.
        options: Options of canal-json.
    """

    format = CANAL.format

    def __init__(self, topic: str, options: CanalInferenceOptions | None = None) -> None:
        self.options = options = options or CanalInferenceOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._topic = topic
        self._objects = JsonObjectColumns(options)
        self._patterns = {
            field: java_pattern(pattern)
            for field, pattern in (("database", options.database_include), ("table", options.table_include))
            if pattern is not None
        }
        self._declared_type = _declared_type_reader(options)
        self._fitting_type = fitting_type_reader(
            iso=options.iso, integers_are_booleans=options.strategy == "MYSQL_TYPE" and options.tinyint1_as_boolean
        )

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message: see `MessageReader.read`."""
        change = self.parse(payload)
        if isinstance(change, SkipReason) or not change.rows:
            return None
        return Observation(change.table, self.columns_of(change), change.primary_key)

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the change of a message; the reason to skip it when it is none, such as a tombstone or a statement.

        Raises:
            MalformedMessageError: It is not a message of the format.
        """
        message = parse_object(payload)
        if message is None:
            return SkipReason.TOMBSTONE
        reason = CANAL.skip_reason(message)
        if reason is not None or not self._is_included(message):
            return reason or SkipReason.FILTERED
        operation, _ = CANAL.operation(message)
        table, key = table_name(CANAL, message, self._topic), primary_key(CANAL, message)
        if operation is Operation.TRUNCATE:
            return TableChange(table, CHANGE_OPERATIONS[operation], (), None, message)
        data = _rows(message, "data")
        if not data:
            return SkipReason.NO_ROWS
        images = tuple(_images(message, operation, data))
        binary = self._declared_binary(message)
        if binary:
            images = tuple((_with_base64(before, binary), _with_base64(after, binary)) for before, after in images)
        return TableChange(table, CHANGE_OPERATIONS[operation], images, key, message)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Infer the columns of a change's rows, or take the types that its message declares."""
        # What an old row shares with its new one has the same types
        rows = [before if after is None else after for before, after in change.rows]
        has_old_rows = change.operation == "u" and not change.lacks_old_row
        old = _rows(change.message, "old")[: len(rows)] if has_old_rows else []
        return self._columns(change.message, [row for row in (*rows, *old) if row is not None])

    def _declared_binary(self, message: Mapping[str, Any]) -> frozenset[str]:
        """Return the columns that a message declares to be binary, where its types count."""
        field = _TYPE_FIELDS.get(self.options.strategy)
        declared = None if field is None or self.options.primitive_as_string else object_field(message, field)
        names = (name for name, type_ in (declared or {}).items() if self._declared_type(type_).kind in _BINARY)
        return frozenset(names)

    def _is_included(self, message: dict[str, Any]) -> bool:
        for field in self._patterns:
            if field not in message:
                raise MalformedMessageError(f"field {field} is missing, by which messages are filtered")
        names = [(pattern, message[field]) for field, pattern in self._patterns.items()]
        return all(isinstance(name, str) and pattern.fullmatch(name) is not None for pattern, name in names)

    def _columns(self, message: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, DataType]:
        strategy = self.options.strategy
        if strategy == "AUTO" or self.options.primitive_as_string:
            return widen_rows(self._objects.columns_of(row)[0] for row in rows)
        field = _TYPE_FIELDS[strategy]
        declared = object_field(message, field)
        if declared is None:
            raise MalformedMessageError(
                f"field {field} is missing, which declares the types: set canal-json.infer-schema.strategy to AUTO"
            )
        types = {name: self._declared_type(declared.get(name)) for row in rows for name in row}
        columns: dict[str, DataType] = {}
        for row in rows:
            for name, value in row.items():
                type_ = _with_nullability(self._fitting_type(types[name], value), value is None)
                columns[name] = least_common_type(columns[name], type_) if name in columns else type_
        return columns


# Each value has a type of its own, and there are few of them
_with_nullability = functools.lru_cache(maxsize=4096)(with_nullability)


def _declared_type_reader(options: CanalInferenceOptions) -> Callable[[Any], ScalarType]:
    if options.strategy == "SQL_TYPE":
        return lambda code: jdbc_type(code) if isinstance(code, int) else STRING
    read = mysql_type_reader(
        timestamp_as_datetime=options.timestamp_as_datetime, tinyint1_as_boolean=options.tinyint1_as_boolean
    )
    return lambda text: read(text) if isinstance(text, str) else STRING


def _rows(message: Mapping[str, Any], field: str) -> list[dict[str, Any]]:
    rows = message.get(field)
    if not isinstance(rows, list):
        raise MalformedMessageError(f"expected an array of rows, found {describe(rows)}", field)
    wrong = next((index for index, row in enumerate(rows) if not isinstance(row, dict)), None)
    if wrong is not None:
        raise MalformedMessageError(f"expected a row, found {describe(rows[wrong])}", f"{field}[{wrong}]")
    return rows


def _images(
    message: dict[str, Any], operation: Operation, data: list[dict[str, Any]]
) -> Iterator[tuple[RowImage | None, RowImage | None]]:
    """Return the rows before and after; an old row has only the values that have changed."""
    if operation is not Operation.UPDATE:
        yield from ((row, None) if operation is Operation.DELETE else (None, row) for row in data)
        return
    if CANAL.lacks_old_row(operation, message):
        yield from ((None, row) for row in data)
        return
    old = _rows(message, "old")
    if len(old) < len(data):
        raise MalformedMessageError(f"it has {len(old)} rows, but data has {len(data)}", "old")
    yield from ((row | before, row) for row, before in zip(data, old, strict=False))


def _with_base64(row: RowImage | None, binary: frozenset[str]) -> RowImage | None:
    """Replace bytes, which Canal writes as text in ISO-8859-1, by base64, as everywhere else in JSON."""
    if row is None:
        return None
    texts = {name: row[name] for name in binary & row.keys() if isinstance(row[name], str)}
    encoded = {name: text.encode("latin-1") for name, text in texts.items() if not text or max(text) <= _MAX_LATIN_1}
    return row | {name: base64.b64encode(value).decode() for name, value in encoded.items()}
