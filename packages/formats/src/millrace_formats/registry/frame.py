"""The frame that stands before each value and names its schema by the id or the GUID that a registry gave it.

Confluent's wire format: https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html.
"""

from __future__ import annotations

from uuid import UUID

from millrace.errors import MalformedMessageError

FRAME_SIZE = 5
"""The size of a frame with an id."""

_MAGIC = b"\0"
_GUID_MAGIC = b"\1"
_GUID_FRAME_SIZE = 17

SchemaId = int | UUID
"""The id of a schema, or its GUID, which Confluent's ``HeaderSchemaIdSerializer`` writes."""


def frame_of(schema_id: int) -> bytes:
    """Return the frame of messages of a schema."""
    return _MAGIC + schema_id.to_bytes(4, "big")


def has_guid(payload: bytes) -> bool:
    """Return whether the frame of a message has the GUID of its schema."""
    return payload[:1] == _GUID_MAGIC and len(payload) >= _GUID_FRAME_SIZE


def frame_size(payload: bytes) -> int:
    """Return the size of a message's frame."""
    return _GUID_FRAME_SIZE if has_guid(payload) else FRAME_SIZE


def split_frame(payload: bytes) -> tuple[bytes, bytes]:
    """Split a message into its frame and the rest; MalformedMessageError when it has no frame."""
    if payload[:1] == _MAGIC and len(payload) >= FRAME_SIZE:
        return payload[:FRAME_SIZE], payload[FRAME_SIZE:]
    schema_id_of(payload)
    return payload[:_GUID_FRAME_SIZE], payload[_GUID_FRAME_SIZE:]


def schema_id_of(payload: bytes) -> SchemaId:
    """Return the id or the GUID of a message's schema; MalformedMessageError when the message has no frame."""
    if has_guid(payload):
        return UUID(bytes=payload[1:_GUID_FRAME_SIZE])
    if len(payload) < FRAME_SIZE or payload[:1] != _MAGIC:
        actual = payload[:FRAME_SIZE].hex(" ") or "nothing"
        raise MalformedMessageError(
            f"expected the frame of a schema registry, a zero byte and four bytes of a schema's id, found {actual}"
        )
    return int.from_bytes(payload[1:FRAME_SIZE], "big", signed=True)
