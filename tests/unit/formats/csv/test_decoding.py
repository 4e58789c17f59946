"""Values of CSV lines in columns, by whichever reader."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Decoded, Payloads
from millrace_formats.csv import CsvFormat, CsvOptions

SCHEMA = pa.schema([("s", pa.string()), ("i", pa.int64()), ("b", pa.bool_()), ("a", pa.list_(pa.string()))])


def decode(*messages: bytes | None, schema: pa.Schema = SCHEMA, **options: Any) -> Decoded:
    return CsvFormat(CsvOptions(**options)).decoder(schema).decode(Payloads(messages))


def row(message: bytes, schema: pa.Schema = SCHEMA, **options: Any) -> list[Any]:
    decoded = decode(message, schema=schema, **options)
    assert not decoded.errors, decoded.errors
    assert decoded.rows.num_rows == 1
    return list(decoded.rows.to_pylist()[0].values())


def reason(message: bytes, schema: pa.Schema = SCHEMA, **options: Any) -> str:
    decoded = decode(message, schema=schema, **options)
    assert decoded.rows.num_rows == 0
    (error,) = decoded.errors
    return error.reason


def value(type_: pa.DataType, text: str, **options: Any) -> Any:
    schema = pa.schema([("x", pa.string()), ("c", type_)])
    plain = row(f"x,{text}".encode(), schema, **options)
    quoted = row(f'"x",{text}'.encode(), schema, **options)
    assert repr(plain) == repr(quoted)
    return plain[1]


def not_read(type_: pa.DataType, text: str) -> str:
    assert value(type_, text, ignore_parse_errors=True) is None
    return reason(f"x,{text}".encode(), pa.schema([("x", pa.string()), ("c", type_)]))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"x,1,true,1;2", ["x", 1, True, ["1", "2"]]),
        (b"x,1,true,1;2,", ["x", 1, True, ["1", "2"]]),
        (b" x , 1 , true , 1 ; 2 ", [" x ", 1, True, [" 1 ", " 2 "]]),
        (b'"a,b",1,true,', ["a,b", 1, True, []]),
        (b'"a""b",1,x,', ['a"b', 1, False, []]),
        (b'"a\nb",1,,', ["a\nb", 1, False, []]),
        (b'a"b,1,,', ['a"b', 1, False, []]),
        (b'"a" ,1,,', ["a", 1, False, []]),
        (b' "a" ,1,,', [' "a" ', 1, False, []]),
        (b'"",1,,""', ["", 1, False, []]),
        (b"x,1,true,1\r\n", ["x", 1, True, ["1"]]),
        (b"x,1,true,1\n\n", ["x", 1, True, ["1"]]),
        (b"#c,1,true,1", ["#c", 1, True, ["1"]]),
        (b'x,"1","true","1;2"', ["x", 1, True, ["1", "2"]]),
        (b'x,1,,"a;""b"', ["x", 1, False, ["a", '"b']]),
        (b"x,1,,;", ["x", 1, False, ["", ""]]),
        (b"\xef\xbb\xbfx,1,,", ["x", 1, False, []]),
        (b"x\x00y,1,,", ["x\0y", 1, False, []]),
        ("ü😀,1,,".encode(), ["ü😀", 1, False, []]),
    ],
)
def test_lines(message: bytes, expected: list[Any]) -> None:
    assert row(message) == expected


BROKEN = {
    b"x,1,true": "3 values for 4 columns",
    b"x,1,true,1;2,extra": "5 values for 4 columns",
    b"x,1,true,,,": "not CSV of 4 columns: more than 5 values",
    b" ": "1 values for 4 columns",
    b"\n": "1 values for 4 columns",
    b'"a"b,1,,': "not CSV of 4 columns: 'b' after a closing quote at character 3",
    b'"a,1,,': "not CSV of 4 columns: a closing quote is missing",
    b"x,1,true,1\ny,2,false,2": "not CSV of 4 columns: a second line in the message",
    b'"x",1,true,1\ny,2,false,2': "not CSV of 4 columns: a second line in the message",
    b"x,1,true,\xff": "not UTF-8: byte 0xff at position 9",
    b"x,,,": 'field i: "" cannot be read as BIGINT: not an integer',
}


@pytest.mark.parametrize("message", BROKEN, ids=repr)
def test_broken_lines_are_errors_and_shift_no_row(message: bytes) -> None:
    decoded = decode(b"a,1,,", message, b'"b",2,,')
    assert [(error.index, error.reason) for error in decoded.errors] == [(1, BROKEN[message])]
    assert decoded.rows.column(0).to_pylist() == ["a", "b"]
    assert decoded.message_index.to_pylist() == [0, 2]


def test_ignoring_parse_errors() -> None:
    decoded = decode(*BROKEN, ignore_parse_errors=True)
    assert not decoded.errors
    found = dict(zip(decoded.message_index.to_pylist(), decoded.rows.to_pylist(), strict=True))
    assert {list(BROKEN)[index]: list(row.values()) for index, row in found.items()} == {
        b"x,1,true": ["x", 1, True, None],
        b" ": [" ", None, None, None],
        b"\n": ["", None, None, None],
        b"x,,,": ["x", None, False, []],
    }


def test_no_row() -> None:
    decoded = decode(None, b"x,1,,", b"")
    assert decoded.message_index.to_pylist() == [1]
    assert not decoded.errors


def test_unterminated_quotes_swallow_no_other_message() -> None:
    decoded = decode(b'"a', b'b",1,,', b'"c",1,,', b'"d', b'"e",2,,')
    assert [error.index for error in decoded.errors] == [0, 3]
    assert decoded.rows.column(0).to_pylist() == ['b"', "c", "e"]
    assert decoded.message_index.to_pylist() == [1, 2, 4]


def test_null_literal() -> None:
    assert row(b"null,null,null,null", null_literal="null") == [None, None, None, [None]]
    assert row(b'"null",1,,null;a', null_literal="null") == [None, 1, False, [None, "a"]]
    assert row(b"NULL, null,,", null_literal="null", ignore_parse_errors=True) == ["NULL", None, False, []]
    assert row(b",,,", null_literal="") == [None, None, None, []]


def test_null_literal_in_a_not_null_column() -> None:
    schema = pa.schema(
        [pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.list_(pa.field("x", pa.int8(), False)))]
    )
    for ignore in (False, True):
        options = {"schema": schema, "null_literal": "-", "ignore_parse_errors": ignore}
        decoded = decode(b"1,2", b"-,2", b"1,-", b'"-",2', **options)
        assert [(e.index, e.reason) for e in decoded.errors] == [
            (1, "field a: NULL in a NOT NULL column"),
            (2, "field b[0]: NULL in a NOT NULL column"),
            (3, "field a: NULL in a NOT NULL column"),
        ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"a\\,b,1,,", "a,b"),
        (b'"a\\"b",1,,', 'a"b'),
        (b'\\"a,1,,', '"a'),
        (b"a\\nb\\tc\\rd\\0e\\xf,1,,", "a\nb\tc\rd\0exf"),
        (b"a\\\nb,1,,", "a\nb"),
        (b"a\\\\b,1,,", "a\\b"),
    ],
)
def test_escapes(message: bytes, expected: str) -> None:
    assert row(message, escape_character="\\")[0] == expected


def test_nothing_after_an_escape() -> None:
    assert reason(b"a\\", escape_character="\\") == "not CSV of 4 columns: nothing after the escape character"
    assert reason(b'"a\\', escape_character="\\") == "not CSV of 4 columns: nothing after the escape character"


def test_comments() -> None:
    decoded = decode(b"#c,1,,", b"#c\nx,1,,", b" #c\r\n#d\ry,2,,", b'"#c",1,,', b"x#,1,,", b"#", allow_comments=True)
    assert decoded.rows.column(0).to_pylist() == ["x", "y", "#c", "x#"]
    assert decoded.message_index.to_pylist() == [1, 2, 3, 4]
    assert not decoded.errors


def test_other_characters() -> None:
    assert row(b"'a|b'|1||x/y", field_delimiter="|", quote_character="'", array_element_delimiter="/") == [
        "a|b", 1, False, ["x", "y"],
    ]  # fmt: skip
    assert (
        row(b"a\t1\t\t", field_delimiter="\\t")[:2] == row(b"a\x011\x01\x01", field_delimiter="\\u0001")[:2] == ["a", 1]
    )
    assert row("a§1§§x<>y".encode(), field_delimiter="§", array_element_delimiter="<>") == ["a", 1, False, ["x", "y"]]
    assert row(b'"a"",1,,', disable_quote_character=True)[0] == '"a""'


INTEGERS = {"7": 7, " +7 ": 7, "-007": -7}


@pytest.mark.parametrize("type_", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_integers(type_: pa.DataType) -> None:
    for text, expected in INTEGERS.items():
        assert value(type_, text) == expected
    bits = type_.bit_width
    for number in (-(1 << bits - 1), (1 << bits - 1) - 1):
        assert value(type_, str(number)) == number
    for text in (str(1 << bits - 1), "1.5", "1e2", "0x10", "", "x", "true", "1_0"):
        assert not_read(type_, text).startswith(f'field c: "{text}" cannot be read as ')


def test_floats() -> None:
    for type_ in (pa.float32(), pa.float64()):
        for text, expected in {
            "1": 1.0,
            " 1.5 ": 1.5,
            "1.5d": 1.5,
            "1e400": float("inf"),
            "-Infinity": -float("inf"),
        }.items():
            assert value(type_, text) == expected
        for text in ("", "inf", "nan", "infinity", "x", "0x10"):
            assert "cannot be read as" in not_read(type_, text)
        assert value(type_, "NaN") != value(type_, "NaN")
    assert value(pa.float32(), "16777217") == 16777216.0


def test_a_float_is_rounded_once() -> None:
    # As a double it is half-way between two floats, of which the other one is even
    assert value(pa.float32(), "1.00000005960464477539062500001") == 1 + 2**-23


def test_decimals() -> None:
    type_ = pa.decimal128(38, 18)
    for text in (
        "12345678901234567890.123456789012345678",
        "-1",
        "0.5",
        "1.0000000000000000005",
        "1E-10",
        "1e-999999999",
    ):
        assert value(type_, text) == Decimal(text).quantize(Decimal("1e-18"), ROUND_HALF_UP, Context(prec=60))
    for text in ("123456789012345678901", "", "x", "1e30", "9" * 1000):
        assert "cannot be read as DECIMAL(38,18)" in not_read(type_, text)


def test_times() -> None:
    assert value(pa.date32(), "2024-02-29") == value(pa.date32(), "2024-2-29") == date(2024, 2, 29)
    assert value(pa.time64("us"), "12:30") == time(12, 30)
    assert value(pa.time64("us"), "12:30:01.5") == time(12, 30, 1, 500000)
    assert value(pa.timestamp("us"), " 2024-05-01 12:00:00.5 ") == datetime(2024, 5, 1, 12, 0, 0, 500000)
    zoned = pa.timestamp("us", "Europe/Berlin")
    for text in ("2024-05-01 12:00:00", "2024-05-01 10:00:00Z", "2024-05-01 11:00:00+01:00"):
        assert value(zoned, text).astimezone(UTC) == datetime(2024, 5, 1, 10, tzinfo=UTC)
    for type_, text in (
        (pa.date32(), "2023-02-29"),
        (pa.time64("us"), "25:00"),
        (pa.timestamp("us"), "2024-05-01T12:00:00"),
    ):
        assert "cannot be read as" in not_read(type_, text)


def test_binary_and_structs() -> None:
    assert value(pa.binary(), "AP8=") == b"\x00\xff"
    assert "expected base64" in not_read(pa.binary(), "AP8")
    struct = pa.struct([("x", pa.int32()), ("y", pa.string())])
    assert value(struct, "1;a") == {"x": 1, "y": "a"}
    assert value(struct, "") is None
    assert reason(b"x,1", pa.schema([("s", pa.string()), ("c", struct)])) == "field c: 1 values for 2 fields"
    assert value(struct, "1", ignore_parse_errors=True) == {"x": 1, "y": None}
    assert reason(b"x,q;a", pa.schema([("s", pa.string()), ("c", struct)])).startswith(
        'field c.x: "q" cannot be read as INT'
    )
