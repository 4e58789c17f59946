"""Bytes that would hurt a worker are errors of their message, and the messages beside it are read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from unit.formats.protobuf.message_files import add_field, add_map, file_of, format_of

MILLION = 1_000_000


def varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    data.append(number)
    return bytes(data)


def nested(levels: int) -> bytes:
    payload = b""
    for _ in range(levels):
        payload = b"\x22" + varint(len(payload)) + payload
    return payload


def reason(schema: pa.Schema, payload: bytes) -> str:
    """Return why a payload is not read, after checking that its neighbours are."""
    file = file_of()
    message = file.message_type.add(name="M")
    add_field(message, "n", 1, ".t.N", repeated=True)
    add_field(message, "s", 3, "string")
    add_field(message, "again", 4, ".t.M")
    add_map(message, "m", 5, "string", "string")
    inner = file.message_type.add(name="N")
    for number in range(1, 21):
        add_field(inner, f"d{number}", number, "double")
    decoded = format_of(file).decoder(schema).decode(Payloads([b"\x1a\x01a", payload, b"\x1a\x01b"]))
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [0, 2]
    assert decoded.rows.num_rows == 2
    (error,) = decoded.errors
    assert error.index == 1
    return error.reason


@pytest.mark.parametrize(
    "payload",
    [
        nested(10_000),
        b"\x3b" * 10_000,
        b"\x1a\xff\xff\xff\xff\x07abc",
        b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01abc",
        b"\x7a\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01abc",
        b"\xfa\xff\xff\xff\xff\xff\x01\x00",
        b"\xff" * 50 * MILLION,
    ],
    ids=["nesting", "groups", "length", "length of 64 bits", "length of another field", "tag", "50 MB"],
)
def test_hostile_bytes(payload: bytes) -> None:
    assert reason(pa.schema([("s", pa.string())]), payload).startswith("Error parsing message with type 't.M'")


@pytest.mark.parametrize(
    "column",
    [
        pa.field("s", pa.string()),
        pa.field("n", pa.list_(pa.struct([("d1", pa.float64())]))),
        pa.field("m", pa.map_(pa.string(), pa.string())),
    ],
    ids=["beside", "messages", "entries"],
)
def test_very_many_empty_messages(column: pa.Field) -> None:
    payload = (b"\x0a\x00" if column.name != "m" else b"\x2a\x00") * 25 * MILLION
    assert reason(pa.schema([column]), payload) == "it holds so many nested messages that reading it may take 1 GiB"


def test_large_messages_are_read() -> None:
    file = file_of()
    message = file.message_type.add(name="M")
    add_field(message, "s", 1, "string")
    add_field(message, "n", 2, ".t.N", repeated=True)
    add_field(file.message_type.add(name="N"), "x", 1, "string")
    text, words = b"\n" * 20 * MILLION, b"\x12\x12\x0a\x10" + b"w" * 16
    payload = b"\x0a" + varint(len(text)) + text + words * 200_000
    schema = pa.schema([("s", pa.string()), ("n", pa.list_(pa.struct([("x", pa.string())])))])
    decoded = format_of(file).decoder(schema).decode(Payloads([payload]))
    assert not decoded.errors
    assert len(decoded.rows.column(0)[0].as_py()) == len(text)
    assert len(decoded.rows.column(1)[0]) == 200_000
