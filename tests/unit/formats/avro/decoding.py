"""Decode messages by both readers, which must agree."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from millrace.contracts import Decoded, Payloads
from millrace_formats.avro.reader.datum_reader import DatumReader
from millrace_formats.avro.reader.decoder import AvroDecoder
from millrace_formats.avro.reader.resolution import resolve
from millrace_formats.avro.schema.parser import parse_schema
from millrace_formats.shared.fallback_decoder import FallbackDecoder


def record(type_: Any, name: str = "R") -> dict[str, Any]:
    """Return the schema of a record with a field ``a``."""
    return {"type": "record", "name": name, "fields": [{"name": "a", "type": type_}]}


def logical(base: str, name: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a logical type."""
    return {"type": base, "logicalType": name, **more}


def decode(writer: Any, field: pa.Field, *messages: bytes, reader: Any = None, legacy: bool = True) -> Decoded:
    """Decode by both readers, and return the result on which they agree."""
    schema = pa.schema([field])
    plan = resolve(parse_schema(json.dumps(writer)), reader and parse_schema(json.dumps(reader)), schema, legacy=legacy)
    both = AvroDecoder(schema, plan), FallbackDecoder(schema, None, DatumReader(plan))
    decoded, exact = (decoder.decode(Payloads(messages)) for decoder in both)
    assert repr(decoded.rows.to_pylist()) == repr(exact.rows.to_pylist())
    assert decoded.errors == exact.errors
    return decoded
