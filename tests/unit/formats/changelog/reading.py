"""Read messages by a format of changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from millrace.contracts import ChangelogFormat, Decoded, Payloads

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string()), ("weight", pa.float64())])


def decode(
    format_: ChangelogFormat, *messages: Any, schema: pa.Schema = SCHEMA, metadata: Sequence[str] = ()
) -> Decoded:
    """Decode messages; those that are not bytes are written as JSON."""
    payloads = [one if one is None or isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    return format_.decoder(schema, metadata).decode(Payloads(payloads))


def changes(format_: ChangelogFormat, *messages: Any, schema: pa.Schema = SCHEMA) -> list[tuple[Any, ...]]:
    """The rows of messages, each with its kind in front."""
    decoded = decode(format_, *messages, schema=schema)
    assert not decoded.errors, decoded.errors
    assert decoded.row_kinds is not None
    rows = decoded.rows.to_pylist()
    return [(kind, *row.values()) for kind, row in zip(decoded.row_kinds.to_pylist(), rows, strict=True)]


def reason(format_: ChangelogFormat, message: Any, schema: pa.Schema = SCHEMA) -> str:
    """Return why a message cannot be decoded."""
    decoded = decode(format_, message, schema=schema)
    assert decoded.rows.num_rows == 0
    (error,) = decoded.errors
    return error.reason


def metadata_of(format_: ChangelogFormat, message: Any, *keys: str) -> dict[str, Any]:
    """Return the metadata of a message of one row, by all keys or some."""
    decoded = decode(format_, message, metadata=keys or tuple(format_.metadata()))
    assert not decoded.errors, decoded.errors
    assert decoded.metadata is not None
    (row,) = decoded.metadata.to_pylist()
    return dict(row)
