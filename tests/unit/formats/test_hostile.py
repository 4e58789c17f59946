"""Huge and deep messages are rows or errors, beside others that are read as ever, and take little memory."""

from __future__ import annotations

import resource

import pyarrow as pa
import pytest

from millrace.contracts import Format, Payloads
from millrace_formats.avro import AvroFormat, AvroOptions
from millrace_formats.csv import CsvFormat
from millrace_formats.json import JsonFormat
from millrace_formats.raw import RawFormat

SIZE = 50_000_000
DEPTH = 10_000
GIGABYTE_IN_KB = 1 << 20

DEEP = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
HUGE = {
    "zeros": b"\0" * SIZE,
    "text": b"x" * SIZE,
    "quotes": b'"' * SIZE,
    "breaks": b"\n" * SIZE,
    "commas": b"," * SIZE,
    "arrays": b"[" * SIZE,
    "no text": b"\xff" * SIZE,
}


def errors(format_: Format, good: bytes, message: bytes) -> list[str]:
    """The reasons of the errors of a message among good ones, which are read."""
    schema = pa.schema([("a", pa.string())])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    decoded = format_.decoder(schema).decode(Payloads([good, message, good]))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GIGABYTE_IN_KB
    assert {error.index for error in decoded.errors} <= {1}
    found = range(3) if decoded.message_index is None else decoded.message_index.to_pylist()
    values = [value for index, value in zip(found, decoded.rows.column(0).to_pylist(), strict=True) if index != 1]
    assert values == ["7", "7"]
    return [error.reason for error in decoded.errors]


@pytest.mark.parametrize("message", HUGE.values(), ids=HUGE)
def test_huge_messages(message: bytes) -> None:
    errors(CsvFormat(), b"7", message)
    errors(JsonFormat(), b'{"a":7}', message)
    errors(RawFormat(), b"7", message)
    errors(AvroFormat(), b"\2\2" + b"7", message)


def test_a_huge_message_may_be_a_good_one() -> None:
    assert errors(JsonFormat(), b'{"a":7}', b'{"a":"' + HUGE["text"] + b'"}') == []
    assert errors(CsvFormat(), b"7", HUGE["text"]) == []


def test_deep_messages() -> None:
    assert errors(JsonFormat(), b'{"a":7}', DEEP) == ["nested too deeply"]
    assert errors(AvroFormat(AvroOptions(encoding="json")), b'{"a":{"string":"7"}}', DEEP) == ["nested too deeply"]
