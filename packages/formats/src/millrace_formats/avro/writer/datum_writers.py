"""Write raw values one row at a time, in Avro's binary and JSON encodings.

pyruhvro writes the binary encoding many rows at once; this is for the schemas that it does not take, and faster than
fastavro. fastavro's JSON has bare NaN in it, which is not JSON.

The encodings: https://avro.apache.org/docs/1.12.0/specification/#encodings.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from millrace_formats.avro.schema.model import NULL, AvroEnum, Fixed, Union, branch_name
from millrace_formats.avro.writer.raw_columns import field_names
from millrace_formats.avro.writer.write_plan import (
    WriteList,
    WriteMap,
    WriteNull,
    WritePlan,
    WriteRecord,
    WriteScalar,
    WriteUnion,
)
from millrace_formats.shared.java_text import double_text

WriteBinary = Callable[[bytearray, Any], None]
"""Append a value to a message."""

WriteJson = Callable[[Any], str]

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}

_quote = json.JSONEncoder(ensure_ascii=False).encode


def binary_writer(plan: WritePlan) -> WriteBinary:
    """Return a writer of raw values; a record's come as a dict, by its fields ``f<i>``."""
    if isinstance(plan, WriteNull):
        return _binary_null(plan)
    if isinstance(plan, WriteUnion):
        return _binary_union(plan)
    if isinstance(plan, WriteList):
        return _binary_list(binary_writer(plan.item))
    if isinstance(plan, WriteMap):
        return _binary_map(binary_writer(plan.value))
    return _binary_record(plan) if isinstance(plan, WriteRecord) else _binary_scalar(plan)


def _binary_null(plan: WriteNull) -> WriteBinary:
    if not isinstance(plan.writer, Union):
        return _write_nothing
    null = plan.writer.branches.index(NULL)
    return lambda out, _: _write_long(out, null)


def _binary_union(plan: WriteUnion) -> WriteBinary:
    write_value, branch, null = binary_writer(plan.value), plan.branch, plan.null

    def write(out: bytearray, value: Any) -> None:
        if value is None and null is not None:
            _write_long(out, null)
        else:
            _write_long(out, branch)
            write_value(out, value)

    return write


def _binary_record(plan: WriteRecord) -> WriteBinary:
    writers = [binary_writer(part) for part, _ in plan.parts]
    fields = list(zip(field_names(len(writers)), writers, strict=True))

    def write(out: bytearray, record: dict[str, Any]) -> None:
        for name, write_field in fields:
            write_field(out, record[name])

    return write


def _binary_list(write_item: WriteBinary) -> WriteBinary:
    def write(out: bytearray, items: list[Any]) -> None:
        if items:
            _write_long(out, len(items))
            for item in items:
                write_item(out, item)
        _write_long(out, 0)

    return write


def _binary_map(write_value: WriteBinary) -> WriteBinary:
    def write(out: bytearray, pairs: list[tuple[str, Any]]) -> None:
        if pairs:
            _write_long(out, len(pairs))
            for key, value in pairs:
                _write_sized(out, key.encode())
                write_value(out, value)
        _write_long(out, 0)

    return write


def _binary_scalar(plan: WriteScalar) -> WriteBinary:
    type_ = plan.writer
    if isinstance(type_, Fixed):
        return lambda out, value: out.extend(value)
    if isinstance(type_, AvroEnum):
        indices = {symbol: index for index, symbol in enumerate(type_.symbols)}
        return lambda out, value: _write_long(out, indices[value])
    return _BINARY_PRIMITIVES[type_.kind]


def _write_nothing(_: bytearray, __: Any) -> None:
    pass


def _write_long(out: bytearray, number: int) -> None:
    bits = (number << 1) ^ (number >> 63)
    while bits > 0x7F:
        out.append(bits & 0x7F | 0x80)
        bits >>= 7
    out.append(bits)


def _write_sized(out: bytearray, value: bytes) -> None:
    _write_long(out, len(value))
    out.extend(value)


_BINARY_PRIMITIVES: dict[str, WriteBinary] = {
    "null": _write_nothing,
    "boolean": lambda out, value: out.append(value),
    "int": _write_long,
    "long": _write_long,
    "float": lambda out, value: out.extend(_FLOAT.pack(value)),
    "double": lambda out, value: out.extend(_DOUBLE.pack(value)),
    "bytes": _write_sized,
    "string": lambda out, value: _write_sized(out, value.encode()),
}


def json_writer(plan: WritePlan) -> WriteJson:
    """Return a writer of raw values; a record's come as a dict, by its fields ``f<i>``."""
    if isinstance(plan, WriteNull):
        return lambda _: "null"
    if isinstance(plan, WriteUnion):
        return _json_union(plan)
    if isinstance(plan, WriteList):
        write_item = json_writer(plan.item)
        return lambda items: "[" + ",".join(map(write_item, items)) + "]"
    if isinstance(plan, WriteMap):
        write_value = json_writer(plan.value)
        return lambda pairs: "{" + ",".join(f"{_quote(key)}:{write_value(value)}" for key, value in pairs) + "}"
    return _json_record(plan) if isinstance(plan, WriteRecord) else _json_scalar(plan)


def _json_union(plan: WriteUnion) -> WriteJson:
    write_value, name = json_writer(plan.value), _quote(branch_name(plan.writer.branches[plan.branch]))
    is_nullable = plan.null is not None
    return lambda value: "null" if value is None and is_nullable else f"{{{name}:{write_value(value)}}}"


def _json_record(plan: WriteRecord) -> WriteJson:
    parts = zip(plan.writer.fields, plan.parts, field_names(len(plan.parts)), strict=True)
    fields = [(raw_name, _quote(field.name), json_writer(part)) for field, (part, _), raw_name in parts]

    def write(record: dict[str, Any]) -> str:
        return "{" + ",".join(f"{name}:{write_field(record[raw_name])}" for raw_name, name, write_field in fields) + "}"

    return write


def _json_scalar(plan: WriteScalar) -> WriteJson:
    kind = "bytes" if isinstance(plan.writer, Fixed) else getattr(plan.writer, "kind", "string")
    return _JSON_PRIMITIVES[kind]


def _json_float(value: float | np.float32) -> str:
    text = double_text(value)
    return f'"{text}"' if text in _NOT_FINITE else text


_JSON_PRIMITIVES: dict[str, WriteJson] = {
    "null": lambda _: "null",
    "boolean": lambda value: "true" if value else "false",
    "int": str,
    "long": str,
    "float": lambda value: _json_float(np.float32(value)),
    "double": _json_float,
    "bytes": lambda value: _quote(value.decode("latin-1")),
    "string": _quote,
}
