"""Read JSON messages of one column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.contracts import Decoded, Payloads
from millrace_formats.json import JsonFormat, JsonOptions


def decode(type_: pa.DataType, *messages: bytes | None, nullable: bool = True, **options: Any) -> Decoded:
    schema = pa.schema([pa.field("a", type_, nullable)])
    return JsonFormat(JsonOptions(**options)).decoder(schema).decode(Payloads(messages))


def value(type_: pa.DataType, text: str, **options: Any) -> Any:
    """Read a JSON value's text into a column."""
    decoded = decode(type_, b'{"a":' + text.encode() + b"}", **options)
    assert not decoded.errors, decoded.errors
    return decoded.rows.column(0).to_pylist()[0]


def reason(type_: pa.DataType, text: str, **options: Any) -> str:
    """Return why a column does not read a JSON value's text."""
    decoded = decode(type_, b'{"a":' + text.encode() + b"}", **options)
    assert decoded.rows.num_rows == 0
    (error,) = decoded.errors
    return error.reason


def not_read(type_: pa.DataType, text: str, **options: Any) -> str:
    """Return why a column does not read a JSON value's text, which is NULL when errors are ignored."""
    assert value(type_, text, ignore_parse_errors=True, **options) is None
    return reason(type_, text, **options)
