"""Reader of debezium-json messages: the rows before and after each change.

The format is that of Debezium's connectors, https://debezium.io/documentation/reference/stable/connectors/.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from millrace.change_dialects import DEBEZIUM, Operation, SkipReason
from millrace.errors import MalformedMessageError
from millrace.unavailable_values import may_have_placeholder, missing_value, without_placeholders
from millrace_catalog.inference.debezium_types import OutOfRange, declared_row, primitives_as_strings
from millrace_catalog.inference.image_reader import row_images, table_name
from millrace_catalog.inference.json_payload import object_field, parse_object
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.observation import (
    CHANGE_OPERATIONS,
    Observation,
    TableChange,
    widen_rows,
)
from millrace_catalog.inference.options import DebeziumInferenceOptions
from millrace_catalog.types import DataType, with_nullability

if TYPE_CHECKING:
    from millrace.contracts import ConnectReader


class _WithSchema(msgspec.Struct):
    payload: dict[str, Any] | None = None
    schema: msgspec.Raw = msgspec.Raw(b"null")


class _DebeziumMessage(NamedTuple):
    change: dict[str, Any]
    schema: bytes | None


# Messages declare the same few types
_with_nullability = functools.lru_cache(maxsize=4096)(with_nullability)
_decode_with_schema = msgspec.json.Decoder(_WithSchema, float_hook=Decimal).decode


class DebeziumReader:
    """Read changes as Debezium writes them. The table is named by ``source``, or else after the topic.

    Args:
        topic: Name of the topic.
        options: Options of debezium-json.
        read_message: Reads messages that are not JSON; None for JSON.
        out_of_range: What becomes of dates and times that the types of their columns do not hold.
    """

    format = DEBEZIUM.format

    def __init__(
        self,
        topic: str,
        options: DebeziumInferenceOptions | None = None,
        read_message: ConnectReader | None = None,
        out_of_range: OutOfRange = "text",
    ) -> None:
        self._out_of_range = out_of_range
        self._read_message = read_message
        self.options = options or DebeziumInferenceOptions()
        self.fixed: Mapping[str, DataType] = {}
        self._topic = topic
        self._objects = JsonObjectColumns(self.options)

    def read(self, payload: bytes | None) -> Observation | None:
        """Read the columns of a message by its values: see `MessageReader.read`."""
        parsed = self._parsed(payload)
        change = None if parsed is None else self._change(parsed.change)
        if change is None or isinstance(change, SkipReason) or not change.rows:
            return None
        return Observation(change.table, self._columns_by_value(change))

    def parse(self, payload: bytes | None) -> TableChange | SkipReason:
        """Parse the change of a message; the reason to skip it when it is none, such as a tombstone or a heartbeat.

        Values have the types that the message declares, where it includes its schema.

        Raises:
            MalformedMessageError: It is not a message of the format, or an insertion of a row with a value that the
                database did not send.
        """
        parsed = self._parsed(payload)
        if parsed is None:
            return SkipReason.TOMBSTONE
        change = self._change(parsed.change)
        if isinstance(change, SkipReason) or not change.rows:
            return change
        ((before, after),) = change.rows
        names: tuple[str, ...] = ()
        if payload and after is not None and (self._read_message is not None or may_have_placeholder(payload)):
            after, names = without_placeholders(after, before)
            if names and change.operation != "u":
                raise missing_value(names[0])
        declared = None if parsed.schema is None else declared_row(parsed.schema)
        if declared is None:
            return (
                change if after is change.rows[0][1] else replace(change, rows=((before, after),), kept_columns=names)
            )
        types = declared.types
        if declared.converts:
            before, wide_before = declared.convert(before, self._out_of_range) if before else (before, {})
            after, wide = declared.convert(after, self._out_of_range) if after else (after, {})
            types = {**types, **wide_before, **wide} if wide or wide_before else types
        return replace(change, rows=((before, after),), types=types, kept_columns=names)

    def columns_of(self, change: TableChange) -> dict[str, DataType]:
        """Return the columns of a change's rows: those that its message declares, or else as their values are."""
        types = change.types
        if types is None:
            return self._columns_by_value(change)
        if self.options.primitive_as_string:
            types = primitives_as_strings(types)
        ((before, after),) = change.rows
        row = before if after is None else after
        # What an old row shares with its new one has the same types
        return {name: _with_nullability(type_, row.get(name) is None) for name, type_ in types.items()} if row else {}

    def _columns_by_value(self, change: TableChange) -> dict[str, DataType]:
        ((before, after),) = change.rows
        rows = [self._objects.columns_of(row)[0] for row in (before, after) if row is not None]
        return rows[0] if len(rows) == 1 else widen_rows(rows)

    def _change(self, message: dict[str, Any]) -> TableChange | SkipReason:
        reason = DEBEZIUM.skip_reason(message)
        if reason is not None:
            return reason
        operation, name = DEBEZIUM.operation(message)
        rows = () if operation is Operation.TRUNCATE else (row_images(DEBEZIUM, operation, name, message),)
        table = table_name(DEBEZIUM, message, self._topic)
        return TableChange(table, CHANGE_OPERATIONS[operation], rows, None, message)

    def _parsed(self, payload: bytes | None) -> _DebeziumMessage | None:
        if self._read_message is not None:
            message = self._read_message(payload) if payload else None
            return None if message is None else _DebeziumMessage(message.value, message.schema)
        if not self.options.schema_include:
            root = parse_object(payload)
            if root is not None and "op" not in root and isinstance(root.get("payload"), dict):
                raise MalformedMessageError(
                    "the change is in the field payload: set debezium-json.schema-include to true"
                )
            return None if root is None else _DebeziumMessage(root, None)
        if not payload:
            return None
        try:
            decoded = _decode_with_schema(payload)
        except (msgspec.MsgspecError, UnicodeDecodeError, InvalidOperation):
            return _parse_leniently(payload)
        if decoded.payload is None:
            return _parse_leniently(payload)
        return _DebeziumMessage(decoded.payload, bytes(decoded.schema))


def _parse_leniently(payload: bytes) -> _DebeziumMessage | None:
    root = parse_object(payload)
    if root is None:
        return None
    change = object_field(root, "payload")
    if change is None:
        if "payload" in root and root.get("schema", ...) is None:
            # A tombstone of Kafka Connect's converter
            return None
        raise MalformedMessageError("field payload is missing: set debezium-json.schema-include to false")
    return _DebeziumMessage(change, msgspec.json.encode(root.get("schema")))
