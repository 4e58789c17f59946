"""Write raw values one row at a time in Avro's JSON encoding.

fastavro's has bare NaN in it, which is not JSON, and the digits of a double for a float.

The encoding: https://avro.apache.org/docs/1.12.0/specification/#json-encoding.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from millrace_formats.avro.schema.model import Fixed, branch_name
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

WriteJson = Callable[[Any], str]

_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}

_quote = json.JSONEncoder(ensure_ascii=False).encode


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
