"""Writes raw values in Avro's JSON encoding, one row at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from millrace_formats.avro.model import Fixed, branch_name
from millrace_formats.avro.put import Put, PutChoice, PutItems, PutNull, PutPairs, PutRow, PutValue
from millrace_formats.shared.java_text import double_text

Write = Callable[[Any], str]

_quoted = json.JSONEncoder(ensure_ascii=False).encode
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}


def json_writer(put: Put) -> Write:
    """A writer of raw values; a record's come as a dict, by its fields ``f<i>``."""
    if isinstance(put, PutNull):
        return lambda _: "null"
    if isinstance(put, PutChoice):
        return _choice(put)
    if isinstance(put, PutItems):
        item = json_writer(put.item)
        return lambda values: "[" + ",".join(map(item, values)) + "]"
    if isinstance(put, PutPairs):
        value_of = json_writer(put.value)
        return lambda pairs: "{" + ",".join(f"{_quoted(key)}:{value_of(value)}" for key, value in pairs) + "}"
    return _row(put) if isinstance(put, PutRow) else _value(put)


def _choice(put: PutChoice) -> Write:
    write, name = json_writer(put.put), _quoted(branch_name(put.writer.branches[put.branch]))
    may_be_null = put.null is not None
    return lambda value: "null" if value is None and may_be_null else f"{{{name}:{write(value)}}}"


def _row(put: PutRow) -> Write:
    parts = [
        (f"f{index}", _quoted(field.name), json_writer(part))
        for index, (field, (part, _)) in enumerate(zip(put.writer.fields, put.parts, strict=True))
    ]

    def write(value: dict[str, Any]) -> str:
        return "{" + ",".join(f"{label}:{part(value[name])}" for name, label, part in parts) + "}"

    return write


def _value(put: PutValue) -> Write:
    kind = "bytes" if isinstance(put.writer, Fixed) else getattr(put.writer, "kind", "string")
    return _WRITERS[kind]


def _number(value: float | np.float32) -> str:
    text = double_text(value)
    return f'"{text}"' if text in _NOT_FINITE else text


_WRITERS: dict[str, Write] = {
    "null": lambda _: "null",
    "boolean": lambda value: "true" if value else "false",
    "int": str,
    "long": str,
    "float": lambda value: _number(np.float32(value)),
    "double": _number,
    "bytes": lambda value: _quoted(value.decode("latin-1")),
    "string": _quoted,
}
