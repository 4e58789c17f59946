"""CSV lines of rows."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace_formats.csv import CsvFormat, CsvOptions


def encode(rows: pa.RecordBatch, **options: Any) -> list[str]:
    encoded = CsvFormat(CsvOptions(**options)).encoder(rows.schema).encode(rows)
    return [payload.decode() for payload in encoded.to_list()]


def text(type_: pa.DataType, value: Any, **options: Any) -> str:
    rows = pa.record_batch([pa.array([value], type_)], schema=pa.schema([("a", type_)]))
    (line,) = encode(rows, **options)
    return line


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", "x"),
        ("", ""),
        (" x ", '" x "'),
        ("a,b", '"a,b"'),
        ('a"b', '"a""b"'),
        ("a\nb", '"a\nb"'),
        ("a\rb", '"a\rb"'),
        ("#x", '"#x"'),
        ("+1", '"+1"'),
        ("-5", "-5"),
        ("a\\b", '"a\\b"'),
        ("a;b|c-d.e:f/g", "a;b|c-d.e:f/g"),
        ("x" * 24, "x" * 24),
        ("x" * 25, f'"{"x" * 25}"'),
        ("é", "é"),
    ],
)
def test_text_is_quoted_as_the_reference_does(value: str, expected: str) -> None:
    assert text(pa.string(), value) == expected


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (pa.bool_(), True, "true"),
        (pa.int64(), -(2**63), "-9223372036854775808"),
        (pa.float64(), 1.5, "1.5"),
        (pa.float64(), 1e10, "1.0E10"),
        (pa.float64(), 1e-5, "1.0E-5"),
        (pa.float64(), 9999999.0, "9999999.0"),
        (pa.float32(), 5819924.0, "5819924.0"),
        (pa.float32(), 2547307.75, "2547307.8"),
        (pa.float64(), -0.0, "-0.0"),
        (pa.float64(), math.nan, "NaN"),
        (pa.float64(), -math.inf, "-Infinity"),
        (pa.float32(), 0.1, "0.1"),
        (pa.float32(), 1e10, "1.0E10"),
        (pa.decimal128(20, 10), Decimal("1E-10"), "1E-10"),
        (pa.decimal128(20, 10), Decimal("1.5"), "1.5"),
        (pa.decimal128(20, 0), Decimal(100000), '"1E+5"'),
        (pa.decimal128(38, 0), Decimal(123456789012345678901234), "123456789012345678901234"),
        (pa.decimal128(38, 0), Decimal(1234567890123456789012345), '"1234567890123456789012345"'),
        (pa.list_(pa.decimal128(20, 0)), [Decimal(100000), Decimal(1)], '"1E+5;1"'),
        (pa.binary(), b"\x00\xff", "AP8="),
        (pa.date32(), date(1, 1, 1), "0001-01-01"),
        (pa.time64("us"), time(1, 2, 3, 400000), "01:02:03.4"),
        (pa.timestamp("us"), datetime(2024, 5, 1), '"2024-05-01 00:00:00"'),
        (pa.timestamp("us", "Europe/Berlin"), datetime(2024, 5, 1, tzinfo=UTC), '"2024-05-01 00:00:00Z"'),
        (pa.list_(pa.int32()), [1, None, 3], "1;;3"),
        (pa.list_(pa.string()), ["a,b", 'c"d'], '"a,b;c""d"'),
        (pa.struct([("x", pa.int32()), ("y", pa.bool_())]), {"x": 1, "y": None}, "1;"),
    ],
)
def test_values(type_: pa.DataType, value: Any, expected: str) -> None:
    assert text(type_, value) == expected
    assert text(type_, None) == ""
    assert text(type_, None, null_literal="NULL") == "NULL"


def test_plain_decimals() -> None:
    assert text(pa.decimal128(20, 10), Decimal("1E-10"), scientific_decimals=False) == "0.0000000001"
    assert text(pa.decimal128(20, 1), Decimal(100000), scientific_decimals=False) == "100000.0"


def test_other_characters() -> None:
    rows = pa.record_batch(
        [["a;b", "c'd"], [[1, None], []]], schema=pa.schema([("s", pa.string()), ("l", pa.list_(pa.int8()))])
    )
    options = {"field_delimiter": ";", "quote_character": "'", "array_element_delimiter": "/", "null_literal": "-"}
    assert encode(rows, **options) == ["'a;b';'1/-'", "'c''d';"]
    assert encode(rows, field_delimiter="\\t") == ["a;b\t1;", "c'd\t"]


def test_escapes() -> None:
    assert text(pa.string(), 'a\\b"', escape_character="\\") == '"a\\\\b"""'
    unquoted = {"disable_quote_character": True, "escape_character": "\\"}
    assert text(pa.string(), 'a,b\\c\nd"', **unquoted) == 'a\\,b\\\\c\\nd"'


def test_what_cannot_be_written_without_quotes_is_an_error() -> None:
    assert text(pa.string(), 'a"b', disable_quote_character=True) == 'a"b'
    for value in ("a,b", "a\nb"):
        with pytest.raises(MessageError, match=r"^column a, row 0: the value holds the delimiter or a line break"):
            text(pa.string(), value, disable_quote_character=True)


def test_numbers_are_quoted_where_the_delimiter_may_stand_in_them() -> None:
    rows = pa.record_batch([[1.5], [-1]], names=["a", "b"])
    assert encode(rows, field_delimiter="-") == ['1.5-"-1"']
    assert encode(rows, field_delimiter=".") == ['"1.5"."-1"']
