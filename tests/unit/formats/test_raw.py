from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace_formats.raw import RawFormat, RawOptions


def encode(type_: pa.DataType, *values: Any, **options: Any) -> list[bytes | None]:
    schema = pa.schema([("value", type_)])
    rows = pa.record_batch([pa.array(values, type_)], schema=schema)
    return list(RawFormat(RawOptions(**options)).encoder(schema).encode(rows).to_list())


def decode(type_: pa.DataType, *payloads: bytes | None, nullable: bool = True, **options: Any) -> Any:
    schema = pa.schema([pa.field("value", type_, nullable)])
    return RawFormat(RawOptions(**options)).decoder(schema).decode(Payloads(payloads))


def test_default_schema_is_one_binary_column() -> None:
    assert RawFormat().default_schema() == pa.schema([("value", pa.binary())])


@pytest.mark.parametrize(
    ("type_", "value", "big", "little"),
    [
        (pa.bool_(), True, b"\x01", b"\x01"),
        (pa.int8(), -2, b"\xfe", b"\xfe"),
        (pa.int16(), 258, b"\x01\x02", b"\x02\x01"),
        (pa.int32(), 1, b"\x00\x00\x00\x01", b"\x01\x00\x00\x00"),
        (pa.int64(), -2, b"\xff" * 7 + b"\xfe", b"\xfe" + b"\xff" * 7),
        (pa.float32(), 1.0, b"\x3f\x80\x00\x00", b"\x00\x00\x80\x3f"),
        (pa.float64(), 1.0, b"\x3f\xf0" + b"\x00" * 6, b"\x00" * 6 + b"\xf0\x3f"),
    ],
)
def test_numbers(type_: pa.DataType, value: Any, big: bytes, little: bytes) -> None:
    for order, payload in (("big-endian", big), ("little-endian", little)):
        assert encode(type_, value, None, endianness=order) == [payload, None]
        assert decode(type_, payload, None, endianness=order).rows.column(0).to_pylist() == [value, None]


def test_any_byte_but_zero_is_true() -> None:
    assert decode(pa.bool_(), b"\x00", b"\x02").rows.column(0).to_pylist() == [False, True]


def test_wrong_lengths_are_errors() -> None:
    decoded = decode(pa.int32(), b"abcd", b"abc", None, b"")
    assert [(error.index, error.reason) for error in decoded.errors] == [
        (1, "3 bytes, a INT has 4"),
        (3, "0 bytes, a INT has 4"),
    ]
    assert decoded.message_index.to_pylist() == [0, 2]


@pytest.mark.parametrize(
    ("charset", "payload"),
    [
        ("UTF-8", "aü".encode()),
        ("ISO-8859-1", b"a\xfc"),
        ("windows-1252", b"a\xfc"),
        ("UTF-16", b"\xfe\xff\x00a\x00\xfc"),
        ("UTF-16LE", b"a\x00\xfc\x00"),
        ("UTF-32", b"\x00\x00\x00a\x00\x00\x00\xfc"),
    ],
)
def test_charsets(charset: str, payload: bytes) -> None:
    assert encode(pa.string(), "aü", charset=charset) == [payload]
    assert decode(pa.string(), payload, charset=charset).rows.column(0).to_pylist() == ["aü"]


def test_utf_16_without_a_mark_is_big_endian() -> None:
    for payload in (b"\x00a", b"\xfe\xff\x00a", b"\xff\xfea\x00"):
        assert decode(pa.string(), payload, charset="UTF-16").rows.column(0).to_pylist() == ["a"]


def test_what_a_charset_does_not_have_is_replaced() -> None:
    assert decode(pa.string(), b"a\xff", b"b").rows.column(0).to_pylist() == ["a\ufffd", "b"]
    assert encode(pa.string(), "aü", charset="US-ASCII") == [b"a?"]
    assert decode(pa.string(), b"a\xfc", charset="US-ASCII").rows.column(0).to_pylist() == ["a\ufffd"]


def test_null_in_a_not_null_column_is_an_error() -> None:
    for type_, good in ((pa.binary(), b"x"), (pa.int8(), b"x")):
        decoded = decode(type_, good, None, good, nullable=False)
        assert [(error.index, error.reason) for error in decoded.errors] == [
            (1, "field value: NULL in a NOT NULL column")
        ]
        assert decoded.message_index.to_pylist() == [0, 2]
