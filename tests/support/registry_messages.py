"""Rows as messages of a registry's formats, and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.contracts import Format, Payloads, SerializationContext


def write(format_: Format, topic: str, rows: pa.RecordBatch) -> list[bytes | None]:
    """Encode rows as the values of a topic."""
    return list(format_.encoder_for(rows.schema, SerializationContext(topic)).encode(rows).to_list())


def read(format_: Format, columns: pa.Schema, messages: list[bytes | None]) -> list[dict[str, Any]]:
    """Decode messages, none of which may be malformed."""
    decoded = format_.decoder(columns).decode(Payloads(messages))
    assert not decoded.errors
    rows: list[dict[str, Any]] = decoded.rows.to_pylist()
    return rows
