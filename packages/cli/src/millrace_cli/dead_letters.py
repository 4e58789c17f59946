"""Dead letters as rows: where each message was, what is wrong with it, and the message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from confluent_kafka import Message

from millrace.contracts import HEADERS, Origin, split_dead_letter_headers

_TIMESTAMP = pa.timestamp("ms", "UTC")

COLUMNS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", _TIMESTAMP),
        ("part", pa.string()),
        ("format", pa.string()),
        ("reason", pa.string()),
        ("key", pa.string()),
        ("value", pa.string()),
        ("headers", HEADERS),
        ("dead_partition", pa.int32()),
        ("dead_offset", pa.int64()),
        ("dead_timestamp", _TIMESTAMP),
    ]
)
"""The columns of dead letters: of the message, then, as dead_*, of its letter in the topic of dead letters."""


def origin_of(message: Message) -> Origin | None:
    """Return where a dead letter comes from; None for a message that is no dead letter."""
    return split_dead_letter_headers(message.headers() or ())[1]


def dead_letter_rows(messages: Sequence[Message]) -> pa.Table:
    """Return messages as rows; those that are no dead letters have no origin."""
    return pa.Table.from_pylist([_row(message) for message in messages], COLUMNS)


def _row(message: Message) -> dict[str, Any]:
    headers, origin = split_dead_letter_headers(message.headers() or ())
    return {
        **(origin._asdict() if origin else {}),
        "key": _text(message.key()),
        "value": _text(message.value()),
        "headers": [{"key": key, "value": value} for key, value in headers],
        "dead_partition": message.partition(),
        "dead_offset": message.offset(),
        "dead_timestamp": message.timestamp()[1] if message.timestamp()[0] else None,
    }


def _text(payload: bytes | None) -> str | None:
    """Return a payload as text; bytes that are none are shown as in Python's literals."""
    return None if payload is None else payload.decode("utf-8", "backslashreplace")
