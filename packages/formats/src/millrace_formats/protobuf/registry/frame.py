"""The frame of protobuf messages: the id of their schema, and the path to the message type in its file.

The path is a list of indexes: of a message among those of the file, then of the nested messages. It is written as its
length and its indexes, variable-length zigzag numbers; the path to the first message of the file as a single zero:
https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format.
"""

from __future__ import annotations

from collections.abc import Sequence

from millrace.errors import MalformedMessageError
from millrace_formats.registry.frame import FRAME_SIZE, frame_of, frame_size, schema_id_of

_FIRST = 0
_MAX_DEPTH = 100
_MAX_VARINT = 5


def message_frame(schema_id: int, path: Sequence[int]) -> bytes:
    """Return the frame of messages of a schema and a message type."""
    if list(path) == [0]:
        return frame_of(schema_id) + b"\0"
    return frame_of(schema_id) + b"".join(_varint(number << 1) for number in (len(path), *path))


def split_message(payload: bytes) -> tuple[bytes, bytes]:
    """Split a message into its frame and the rest; MalformedMessageError when it has no frame."""
    size = FRAME_SIZE + 1
    if len(payload) >= size and not payload[0] and not payload[FRAME_SIZE]:
        return payload[:size], payload[size:]
    schema_id_of(payload)
    _, size = _read_path(payload)
    return payload[:size], payload[size:]


def message_path(frame: bytes) -> tuple[int, ...]:
    """Return the path to the message type of a frame."""
    return _read_path(frame)[0]


def _read_path(payload: bytes) -> tuple[tuple[int, ...], int]:
    """Return the path, and the position after it."""
    length, position = _read_number(payload, frame_size(payload))
    if not 0 <= length <= _MAX_DEPTH:
        raise MalformedMessageError(f"its frame has {length} message indexes, expected 0 to {_MAX_DEPTH}")
    path = []
    for _ in range(length):
        index, position = _read_number(payload, position)
        path.append(index)
    return tuple(path) or (_FIRST,), position


def _read_number(payload: bytes, position: int) -> tuple[int, int]:
    number = 0
    for shift in range(_MAX_VARINT):
        if position + shift >= len(payload):
            raise MalformedMessageError("its frame ends within the message indexes")
        byte = payload[position + shift]
        number |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return number >> 1 ^ -(number & 1), position + shift + 1
    raise MalformedMessageError("its frame has a message index of more than 32 bits")


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
