"""Values in Avro's bytes, by another library than ours."""

from __future__ import annotations

import io
from typing import Any

import fastavro


def encoded(schema: Any, value: Any, *, logical: bool = True) -> bytes:
    """A value as fastavro writes it; without ``logical`` as the numbers and bytes that it is."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema if logical else plain(schema), value)
    return out.getvalue()


def decoded(schema: Any, data: bytes, *, logical: bool = True) -> Any:
    """A value as fastavro reads it."""
    return fastavro.schemaless_reader(io.BytesIO(data), schema if logical else plain(schema))


def plain(schema: Any) -> Any:
    """A schema without logical types."""
    if isinstance(schema, list):
        return [plain(part) for part in schema]
    if isinstance(schema, dict):
        return {name: plain(part) for name, part in schema.items() if name != "logicalType"}
    return schema
