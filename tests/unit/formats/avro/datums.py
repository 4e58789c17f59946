"""Encode and decode Avro values by fastavro."""

from __future__ import annotations

import io
from typing import Any

import fastavro


def encoded(schema: Any, value: Any, *, logical: bool = True) -> bytes:
    """Encode a value; without ``logical`` it is a plain number or bytes where the schema has a logical type."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema if logical else plain(schema), value)
    return out.getvalue()


def framed(schema_id: int, schema: Any, value: Any) -> bytes:
    """Encode a value behind a registry's frame."""
    return b"\0" + schema_id.to_bytes(4, "big") + encoded(schema, value)


def decoded(schema: Any, data: bytes, *, logical: bool = True) -> Any:
    """Decode a value; for ``logical`` see `encoded`."""
    return fastavro.schemaless_reader(io.BytesIO(data), schema if logical else plain(schema))


def plain(schema: Any) -> Any:
    """Return a schema without its logical types."""
    if isinstance(schema, list):
        return [plain(part) for part in schema]
    if isinstance(schema, dict):
        return {name: plain(part) for name, part in schema.items() if name != "logicalType"}
    return schema
