"""Malformed messages: rows of a table, and the error that ends a pipeline."""

from __future__ import annotations

import base64

from millrace.errors import MessageError
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.types import BIGINT, BYTES, INT, STRING, DataType

MALFORMED_COLUMNS: dict[str, DataType] = {
    "topic": STRING,
    "partition": INT,
    "offset": BIGINT,
    "error": STRING,
    "key": BYTES,
    "value": BYTES,
}
"""The columns of the table."""

_SHOWN_BYTES = 120
_PRIMARY_KEY = ("topic", "partition", "offset")


def malformed_row(
    table: str, place: tuple[str, int, int], key: bytes | None, value: bytes | None, error: str
) -> TableChange:
    """Return the insertion of a message into the table of malformed ones.

    Args:
        table: The id of the table.
        place: Topic, partition and offset of the message.
        key: Its key.
        value: Its value.
        error: The reason.
    """
    values = (*place, error, _base64(key), _base64(value))
    row = dict(zip(MALFORMED_COLUMNS, values, strict=True))
    return TableChange(table, "c", ((None, row),), _PRIMARY_KEY, {})


def _base64(payload: bytes | None) -> str | None:
    return None if payload is None else base64.b64encode(payload).decode()


def malformed_message(format_: str, place: object, reason: str, payload: bytes | None) -> MessageError:
    """Make the error of a malformed message that ends a pipeline."""
    return MessageError(
        f"malformed message in {place}: {reason}. It begins with {(payload or b'')[:_SHOWN_BYTES]!r}. Set "
        f"'{format_}.ignore-parse-errors' or 'ingestion.ignore-errors' of the source to true to skip "
        f"such messages"
    )
