"""Write rows with protobuf's own library, one at a time: slow and complete. ptars writes the same for most rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from millrace_formats.protobuf.message_methods import serialize, set_in_parent
from millrace_formats.protobuf.ptars.wire_type import wire_name
from millrace_formats.protobuf.schema.fields import (
    Instant,
    MapValue,
    MessageField,
    RepeatedValue,
    Single,
    Struct,
    Wrapped,
)

Fill = Callable[[Any, dict[str, Any]], None]
"""Set a message's fields."""

SetField = Callable[[Any, Any], None]
"""Set a message's field to a value that is not null."""


class ProtobufExactWriter:
    """Write rows that were converted for ptars, with protobuf's own library.

    Args:
        message_class: The class of the messages.
        row: The columns.
    """

    def __init__(self, message_class: Any, row: Struct) -> None:
        self._new = message_class
        self._fill = _filler(row)

    def write(self, rows: pa.StructArray) -> list[bytes]:
        """Write rows as messages; the entries of maps are sorted."""
        payloads = []
        for row in rows.to_pylist():
            message = self._new()
            self._fill(message, row)
            payloads.append(serialize(message, deterministic=True))
        return payloads


def _filler(struct: Struct) -> Fill:
    parts = [(wire_name(field.proto), _setter(field)) for field in struct.fields]

    def fill(message: Any, values: dict[str, Any]) -> None:
        # in the order of the columns: of a oneof's members the last one counts
        for name, set_field in parts:
            if (value := values[name]) is not None:
                set_field(message, value)

    return fill


def _setter(field: MessageField) -> SetField:
    name = field.name
    match field.value:
        case RepeatedValue(element):
            return _array_setter(name, _message_filler(element))
        case MapValue(_, item):
            return _map_setter(name, _message_filler(item))
        case value:
            fill = _message_filler(value)
            if fill is None:
                return lambda message, single: setattr(message, name, single)
            return _message_setter(name, fill)


def _message_filler(value: Single) -> Fill | None:
    """Return the function that fills a message for a value; None when the value is not a message."""
    match value:
        case Struct():
            return _filler(value)
        case Wrapped():
            return _fill_wrapper
        case Instant():
            return _fill_instant
        case _:
            return None


def _message_setter(name: str, fill: Fill) -> SetField:
    def set_field(message: Any, values: Any) -> None:
        inner = getattr(message, name)
        set_in_parent(inner)
        fill(inner, values)

    return set_field


def _array_setter(name: str, fill: Fill | None) -> SetField:
    def set_field(message: Any, values: Any) -> None:
        elements = getattr(message, name)
        if fill is None:
            elements.extend(values)
            return
        for value in values:
            fill(elements.add(), value)

    return set_field


def _map_setter(name: str, fill: Fill | None) -> SetField:
    def set_field(message: Any, values: Any) -> None:
        entries = getattr(message, name)
        for entry in values:
            if fill is None:
                entries[entry["f1"]] = entry["f2"]
            else:
                fill(entries[entry["f1"]], entry["f2"])

    return set_field


def _fill_wrapper(message: Any, values: dict[str, Any]) -> None:
    message.value = values["f1"]


def _fill_instant(message: Any, values: dict[str, Any]) -> None:
    message.seconds, message.nanos = values["f1"], values["f2"]
