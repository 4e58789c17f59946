"""The registry's frame: what stands before each value, and says by which schema it was written."""

from __future__ import annotations

from millrace.errors import MalformedMessageError

MAGIC = b"\0"
SIZE = 5


def frame_of(schema_id: int) -> bytes:
    """The frame of messages of a schema."""
    return MAGIC + schema_id.to_bytes(4, "big")


def schema_id_of(payload: bytes) -> int:
    """The id of a message's schema; MalformedMessageError when the message has no frame."""
    if len(payload) < SIZE or payload[:1] != MAGIC:
        raise MalformedMessageError(
            f"it has no frame of a schema registry, a zero byte and four bytes of a schema's id, but begins with "
            f"{payload[:SIZE].hex(' ') or 'nothing'}"
        )
    return int.from_bytes(payload[1:SIZE], "big", signed=True)
