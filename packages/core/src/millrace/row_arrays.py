"""Messages that are JSON arrays of rows: each element is read as a message of its own.

See ``JsonRowDataDeserializationSchema.deserialize`` in Flink.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import msgspec

_IN_FRONT = b" \t\r\n\xef\xbb\xbf"  # blanks and the bytes of a byte order mark

_decode = msgspec.json.Decoder(list[msgspec.Raw]).decode
_skip_blanks = re.compile(r"[ \t\r\n]*").match
# Numbers as text: theirs may have more digits than Python converts
_LENIENT = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)


def begins_array(payload: bytes | None) -> bool:
    """Return whether a message looks like an array of rows."""
    return payload is not None and payload[:1] != b"{" and payload.lstrip(_IN_FRONT)[:1] == b"["


def rows_in(payload: bytes | None) -> Sequence[bytes | None]:
    """Return the elements of an array of rows, as they are written; the message alone where it is no such array.

    An array that is no valid JSON is left as it is, for its reader to report.
    """
    if payload is None or not begins_array(payload):
        return (payload,)
    try:
        return [bytes(row) for row in _decode(payload)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        rows = _split_leniently(payload)
        return (payload,) if rows is None else rows


def _split_leniently(payload: bytes) -> list[bytes] | None:
    """Split an array that only lenient readers of JSON accept, such as one with control characters in texts."""
    try:
        text = payload.decode("utf-8-sig")
        at = _after_blanks(text, _after_blanks(text, 0) + 1)
        rows: list[bytes] = []
        while text[at] != "]" or rows:
            _, end = _LENIENT.raw_decode(text, at)
            rows.append(text[at:end].encode())
            at = _after_blanks(text, end)
            if text[at] != ",":
                break
            at = _after_blanks(text, at + 1)
        return rows if text[at] == "]" and _after_blanks(text, at + 1) == len(text) else None
    except (ValueError, IndexError, RecursionError):
        return None


def _after_blanks(text: str, start: int) -> int:
    match = _skip_blanks(text, start)
    return start if match is None else match.end()
