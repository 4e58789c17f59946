"""Short ways to read messages by a format of changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from millrace.contracts import ChangelogFormat, Decoded, Payloads

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string()), ("weight", pa.float64())])


def decode(made: ChangelogFormat, *messages: Any, schema: pa.Schema = SCHEMA, metadata: Sequence[str] = ()) -> Decoded:
    """What messages decode to; those that are no bytes are written as JSON."""
    payloads = [one if one is None or isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    return made.decoder(schema, metadata).decode(Payloads(payloads))


def changes(made: ChangelogFormat, *messages: Any, schema: pa.Schema = SCHEMA) -> list[tuple[Any, ...]]:
    """The rows of messages, each with its kind in front."""
    decoded = decode(made, *messages, schema=schema)
    assert not decoded.errors, decoded.errors
    assert decoded.row_kinds is not None
    rows = decoded.rows.to_pylist()
    return [(kind, *row.values()) for kind, row in zip(decoded.row_kinds.to_pylist(), rows, strict=True)]


def reason(made: ChangelogFormat, message: Any, schema: pa.Schema = SCHEMA) -> str:
    """Why a message cannot be decoded."""
    decoded = decode(made, message, schema=schema)
    assert decoded.rows.num_rows == 0
    (error,) = decoded.errors
    return error.reason


def told(made: ChangelogFormat, message: Any, *keys: str) -> dict[str, Any]:
    """What a message of one row tells beside it, by all keys or some."""
    decoded = decode(made, message, metadata=keys or tuple(made.metadata()))
    assert not decoded.errors, decoded.errors
    assert decoded.metadata is not None
    (row,) = decoded.metadata.to_pylist()
    return dict(row)
