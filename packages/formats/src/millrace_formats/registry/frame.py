"""The frame that stands before each value and names its schema by the id that a registry gave it.

Confluent's wire format: https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html.
"""

from __future__ import annotations

from millrace.errors import MalformedMessageError

FRAME_SIZE = 5
MAGIC = b"\0"
"""The first byte of a frame with an id."""

_GUID_SIZE = 16
_MAGIC_OF_GUIDS = b"\1"
"""The first byte of a frame with a GUID of 16 bytes, which Confluent's ``HeaderSchemaIdSerializer`` writes."""


def frame_of(schema_id: int) -> bytes:
    """Return the frame of messages of a schema."""
    return MAGIC + schema_id.to_bytes(4, "big")


def schema_id_of(payload: bytes) -> int:
    """Return the id of a message's schema; MalformedMessageError when the message has no frame."""
    if payload[:1] == _MAGIC_OF_GUIDS and len(payload) > _GUID_SIZE:
        raise MalformedMessageError(
            "a GUID names its schema, in a header or before the message, where a schema's id is expected: set "
            "value.schema.id.serializer and key.schema.id.serializer of the producer to Confluent's "
            "PrefixSchemaIdSerializer"
        )
    if len(payload) < FRAME_SIZE or payload[:1] != MAGIC:
        found = payload[:FRAME_SIZE].hex(" ") or "nothing"
        raise MalformedMessageError(
            f"expected the frame of a schema registry, a zero byte and four bytes of a schema's id, found {found}"
        )
    return int.from_bytes(payload[1:FRAME_SIZE], "big", signed=True)
