"""Derive the JSON Schema of columns, by Confluent's names for what JSON has no types for.

Times are text, which keeps their microseconds; `millrace_formats.json.registry.columns` has the way back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

_SCALARS: dict[pa.DataType, dict[str, Any]] = {
    pa.bool_(): {"type": "boolean"},
    pa.int8(): {"type": "integer", "connect.type": "int8"},
    pa.int16(): {"type": "integer", "connect.type": "int16"},
    pa.int32(): {"type": "integer", "connect.type": "int32"},
    pa.int64(): {"type": "integer", "connect.type": "int64"},
    pa.float32(): {"type": "number", "connect.type": "float32"},
    pa.float64(): {"type": "number", "connect.type": "float64"},
    pa.string(): {"type": "string"},
    pa.binary(): {"type": "string", "contentEncoding": "base64", "connect.type": "bytes"},
    pa.date32(): {"type": "string", "format": "date"},
}


def derive_schema(columns: pa.Schema) -> str:
    """Return the JSON Schema of objects that hold columns, as text."""
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Record"}
    return json.dumps({**head, **_object(columns)}, separators=(",", ":"))


def _object(fields: Iterable[pa.Field]) -> dict[str, Any]:
    columns = list(fields)
    properties = {field.name: _property(field, index) for index, field in enumerate(columns)}
    required = [field.name for field in columns if not field.nullable]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _property(field: pa.Field, index: int) -> dict[str, Any]:
    return {**_nullable(field), "connect.index": index}


def _nullable(field: pa.Field) -> dict[str, Any]:
    type_ = _type(field.type)
    return {"oneOf": [{"type": "null"}, type_]} if field.nullable else type_


def _type(type_: pa.DataType) -> dict[str, Any]:
    if pt.is_struct(type_):
        return _object(type_)
    if pt.is_list(type_):
        return {"type": "array", "items": _nullable(type_.value_field)}
    if pt.is_map(type_):
        return {"type": "object", "connect.type": "map", "additionalProperties": _nullable(type_.item_field)}
    if pt.is_decimal128(type_):
        parameters = {"scale": str(type_.scale), "connect.decimal.precision": str(type_.precision)}
        title = "org.apache.kafka.connect.data.Decimal"
        return {"type": "number", "title": title, "connect.type": "bytes", "connect.parameters": parameters}
    if pt.is_timestamp(type_):
        return {"type": "string", "format": "local-date-time" if type_.tz is None else "date-time"}
    return {"type": "string", "format": "time"} if pt.is_time64(type_) else dict(_SCALARS[type_])
