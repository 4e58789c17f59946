"""Writes raw values in Avro's binary encoding, one row at a time, for schemas that the fast writer does not take."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from millrace_formats.avro.model import Enum, Fixed, Union
from millrace_formats.avro.put import Put, PutChoice, PutItems, PutNull, PutPairs, PutRow, PutValue

Write = Callable[[bytearray, Any], None]

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


def binary_writer(put: Put) -> Write:
    """A writer of raw values; a record's come as a dict, by its fields ``f<i>``."""
    if isinstance(put, PutNull):
        return _null(put)
    if isinstance(put, PutChoice):
        return _choice(put)
    if isinstance(put, PutItems):
        return _items(binary_writer(put.item))
    if isinstance(put, PutPairs):
        return _pairs(binary_writer(put.value))
    return _row(put) if isinstance(put, PutRow) else _value(put)


def _null(put: PutNull) -> Write:
    if not isinstance(put.writer, Union):
        return _nothing
    index = next(i for i, branch in enumerate(put.writer.branches) if getattr(branch, "kind", "") == "null")
    return lambda out, _: _number(out, index)


def _choice(put: PutChoice) -> Write:
    write, branch, null = binary_writer(put.put), put.branch, put.null

    def choose(out: bytearray, value: Any) -> None:
        if value is None and null is not None:
            _number(out, null)
        else:
            _number(out, branch)
            write(out, value)

    return choose


def _row(put: PutRow) -> Write:
    parts = [(f"f{index}", binary_writer(part)) for index, (part, _) in enumerate(put.parts)]

    def write(out: bytearray, value: dict[str, Any]) -> None:
        for name, part in parts:
            part(out, value[name])

    return write


def _items(item: Write) -> Write:
    def write(out: bytearray, value: list[Any]) -> None:
        if value:
            _number(out, len(value))
            for one in value:
                item(out, one)
        _number(out, 0)

    return write


def _pairs(value_of: Write) -> Write:
    def write(out: bytearray, value: list[tuple[str, Any]]) -> None:
        if value:
            _number(out, len(value))
            for key, one in value:
                _octets(out, key.encode())
                value_of(out, one)
        _number(out, 0)

    return write


def _value(put: PutValue) -> Write:
    type_ = put.writer
    if isinstance(type_, Fixed):
        return lambda out, value: out.extend(value)
    if isinstance(type_, Enum):
        places = {symbol: index for index, symbol in enumerate(type_.symbols)}
        return lambda out, value: _number(out, places[value])
    return _WRITERS[type_.kind]


def _nothing(_: bytearray, __: Any) -> None:
    pass


def _number(out: bytearray, number: int) -> None:
    bits = (number << 1) ^ (number >> 63)
    while bits > 0x7F:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    out.append(bits)


def _octets(out: bytearray, value: bytes) -> None:
    _number(out, len(value))
    out.extend(value)


_WRITERS: dict[str, Write] = {
    "null": _nothing,
    "boolean": lambda out, value: out.append(value),
    "int": _number,
    "long": _number,
    "float": lambda out, value: out.extend(_FLOAT.pack(value)),
    "double": lambda out, value: out.extend(_DOUBLE.pack(value)),
    "bytes": _octets,
    "string": lambda out, value: _octets(out, value.encode()),
}
