"""Values of JSON messages in columns, by whichever reader."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from unit.formats.json.reading import decode, not_read, reason, value

NTZ = pa.timestamp("us")
INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("false", False),
        ('"true"', True),
        ('" TRUE "', True),
        ('"trueA"', False),
        ('"yes"', False),
        ("1", False),
        ("{}", False),
        ("null", None),
    ],
)
def test_boolean(text: str, expected: bool | None) -> None:
    assert value(pa.bool_(), text) is expected


@pytest.mark.parametrize("type_", INTEGERS)
@pytest.mark.parametrize(
    ("text", "expected"), [("7", 7), ("-0", 0), ('"7"', 7), ('" +7 "', 7), ('"-007"', -7), ("null", None)]
)
def test_integers(type_: pa.DataType, text: str, expected: int | None) -> None:
    assert value(type_, text) == expected


@pytest.mark.parametrize("type_", INTEGERS)
def test_integers_have_the_bounds_of_their_type(type_: pa.DataType) -> None:
    bits = type_.bit_width
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    for number in (low, high):
        assert value(type_, str(number)) == value(type_, f'"{number}"') == number
    for text in (str(low - 1), str(high + 1), "1" + "0" * 30, "-1" + "0" * 5000):
        assert f"beyond {bits} bits" in not_read(type_, text)
        assert f"beyond {bits} bits" in not_read(type_, f'"{text}"')


@pytest.mark.parametrize("type_", [pa.int32(), pa.int64()])
@pytest.mark.parametrize(
    ("text", "expected"),
    [("112.013", 112), ("-1.9", -1), ("1e2", 100), ("2.5E-1", 0), ("1e-999999999", 0), ("-0.0", 0)],
)
def test_int_and_bigint_cut_fractions_off(type_: pa.DataType, text: str, expected: int) -> None:
    assert value(type_, text) == expected


def test_a_fraction_beyond_the_bounds_is_an_error() -> None:
    assert value(pa.int32(), "2147483647.0") == 2147483647
    for text in ("2147483647.5", "-2147483648.5", "1e10", "1e999999999", "1e99999999999999999999"):
        assert "cannot be read as INT: beyond 32 bits" in not_read(pa.int32(), text)
    assert value(pa.int64(), "9223372036854775807.0") == 2**63 - 1
    assert "beyond 64 bits" in not_read(pa.int64(), "9223372036854775808.0")


@pytest.mark.parametrize("type_", [pa.int8(), pa.int16()])
@pytest.mark.parametrize("text", ["1.5", "1.0", "1e1"])
def test_tinyint_and_smallint_take_no_fractions(type_: pa.DataType, text: str) -> None:
    assert "not an integer" in not_read(type_, text)


@pytest.mark.parametrize("type_", INTEGERS)
@pytest.mark.parametrize("text", ["true", '""', '"1.5"', '"1_0"', '"0x1"', '"x"', "{}", "[1]"])
def test_not_an_integer(type_: pa.DataType, text: str) -> None:
    assert not_read(type_, text).startswith(f"field a: {text} cannot be read as ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("60.00", 60.0),
        ('"60.00"', 60.0),
        ("1", 1.0),
        ("9007199254740993", 9007199254740992.0),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ('"Infinity"', math.inf),
        ('"-Infinity"', -math.inf),
        ('" 1.5d "', 1.5),
        ('"0x1p3"', 8.0),
        ('".5"', 0.5),
        ("123456789012345678901234567890", 1.2345678901234568e29),
    ],
)
@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()])
def test_floats(type_: pa.DataType, text: str, expected: float) -> None:
    assert value(type_, text) == pa.scalar(expected, type_).as_py()


def test_a_float_is_rounded_as_the_reference_does() -> None:
    text = "1.00000005960464477539062500001"
    assert value(pa.float32(), text) == 1.0
    assert value(pa.float32(), f'"{text}"') == 1 + 2**-23


def test_floats_that_are_special() -> None:
    assert math.isnan(value(pa.float64(), '"NaN"'))
    assert math.copysign(1, value(pa.float64(), "-0.0")) == -1
    assert math.copysign(1, value(pa.float64(), "-0")) == 1
    assert value(pa.float32(), "1e300") == math.inf
    for text in ("true", '""', '"x"', '"infinity"', "{}"):
        assert "cannot be read as DOUBLE" in not_read(pa.float64(), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "1.50"),
        ('"1.5"', "1.50"),
        ("1.005", "1.01"),
        ("-1.005", "-1.01"),
        ("1E+3", "1000.00"),
        ("1e-999999999", "0.00"),
        ('" 12 "', "12.00"),
        ('"+.5"', "0.50"),
        ("99999999.994", "99999999.99"),
    ],
)
def test_decimals_are_rounded_half_up(text: str, expected: str) -> None:
    assert value(pa.decimal128(10, 2), text) == Decimal(expected)


def test_decimals_of_38_digits_are_exact() -> None:
    digits = "12345678901234567890.123456789012345678"
    assert value(pa.decimal128(38, 18), digits) == value(pa.decimal128(38, 18), f'"{digits}"') == Decimal(digits)


@pytest.mark.parametrize(
    "text", ["100000000", "99999999.995", "1e30", "1e999999999", '"x"', '"NaN"', "true", "[1]", '""']
)
def test_not_a_decimal_that_fits(text: str) -> None:
    assert f"{text} cannot be read as DECIMAL(10,2)" in not_read(pa.decimal128(10, 2), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"x"', "x"),
        ('""', ""),
        ("1.10", "1.10"),
        ("1e2", "1e2"),
        ("true", "true"),
        ('{"b": 1.10, "c" : [1, "ü\\n", null, {}]}', '{"b":1.10,"c":[1,"ü\\n",null,{}]}'),
        ('{"b":1,"b":2}', '{"b":2}'),
        ("[ ]", "[]"),
        ('"\\ud83d\\ude00"', "😀"),
        ('"a\nb"', "a\nb"),
        ('"\\u0000"', "\0"),
        ("null", None),
    ],
)
def test_string(text: str, expected: str | None) -> None:
    assert value(pa.string(), text) == expected


def test_a_lone_surrogate_is_read_as_a_question_mark() -> None:
    assert value(pa.string(), '"a\\ud800b"') == "a?b"
    assert value(pa.string(), '["\\udc00"]') == '["?"]'


def test_binary_is_base64() -> None:
    assert value(pa.binary(), '"AP8="') == b"\x00\xff"
    assert value(pa.binary(), '"AP\\n8="') == b"\x00\xff"
    for text in ('"AP8"', '"?"', "7", "{}"):
        assert "cannot be read as BINARY" in not_read(pa.binary(), text)


def test_fields_are_matched_by_their_exact_name() -> None:
    assert decode(pa.int32(), b'{"A":1}', b'{"a ":1}', b'{"\\u0061":2}').rows.column(0).to_pylist() == [None, None, 2]


def test_the_last_of_repeated_fields_counts() -> None:
    messages = (b'{"a":1,"a":2}', b'{"a":"x","a":3}', b'{"a":1,"a":null}')
    assert decode(pa.int32(), *messages).rows.column(0).to_pylist() == [2, 3, None]


def test_absent_fields_are_null_unless_they_must_be_there() -> None:
    assert value(pa.int32(), '1,"b":2') == 1
    assert decode(pa.int32(), b"{}").rows.column(0).to_pylist() == [None]
    decoded = decode(
        pa.struct([("b", pa.int32())]), b"{}", b'{"a":{}}', b'{"a":{"b":null}}', fail_on_missing_field=True
    )
    assert [error.reason for error in decoded.errors] == [
        "field a: the field is missing",
        "field a.b: the field is missing",
    ]
    assert decoded.rows.column(0).to_pylist() == [{"b": None}]


@pytest.mark.parametrize("ignore", [False, True])
def test_null_in_a_not_null_column_is_an_error(ignore: bool) -> None:
    for message in (b"{}", b'{"a":null}'):
        for type_ in (pa.int32(), pa.decimal128(5, 2), pa.string(), NTZ, pa.list_(pa.int32())):
            decoded = decode(type_, message, nullable=False, ignore_parse_errors=ignore)
            assert [error.reason for error in decoded.errors] == ["field a: NULL in a NOT NULL column"]


def test_not_null_within_other_types() -> None:
    inner = pa.field("x", pa.decimal128(5, 2), nullable=False)
    for type_, good, bad, path in (
        (pa.struct([inner]), '{"x":1}', '{"x":null}', "a.x"),
        (pa.list_(inner), "[1]", "[1,null]", "a[1]"),
        (pa.map_(pa.string(), inner), '{"k":1}', '{"k":null}', 'a["k"]'),
    ):
        decoded = decode(type_, f'{{"a":{good}}}'.encode(), f'{{"a":{bad}}}'.encode(), b'{"a":null}')
        assert decoded.rows.num_rows == 2
        assert [error.reason for error in decoded.errors] == [f"field {path}: NULL in a NOT NULL column"]


def test_errors_name_the_path_and_the_value() -> None:
    type_ = pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.struct([("d", pa.date32())]))))])
    assert reason(type_, '{"m":{"k":[{},{"d":"x"}]}}').startswith('field a.m["k"][1].d: "x" cannot be read as DATE')
    assert reason(type_, '{"m":{"k":{}}}') == 'field a.m["k"]: expected an array, found {}'
    assert reason(type_, '{"m":[]}') == "field a.m: expected an object, found []"
    assert len(reason(pa.int32(), '"' + "x" * 10_000 + '"')) < 150


def test_ignoring_parse_errors_keeps_all_that_can_be_read() -> None:
    type_ = pa.struct(
        [
            ("i", pa.int32()),
            ("l", pa.list_(pa.int32())),
            ("m", pa.map_(pa.string(), NTZ)),
            ("s", pa.struct([("i", pa.int8())])),
        ]
    )
    text = '{"i":"x","l":[1,"x",3],"m":{"a":"x","b":"2024-01-01 00:00:00"},"s":{"i":300}}'
    assert value(type_, text, ignore_parse_errors=True) == {
        "i": None,
        "l": [1, None, 3],
        "m": [("a", None), ("b", datetime(2024, 1, 1))],
        "s": {"i": None},
    }


BROKEN = {
    b"{": "not JSON",
    b'{"a":1}{"a":2}': "not JSON: Extra data",
    b'{"a":1} x': "not JSON",
    b"[1]": "expected a JSON object, found 1",
    b"[[]]": "expected a JSON object, found an array of 0 values, each of which needs a message of its own",
    b'[{"a":1}': "not JSON",
    b'[{"a":1},]': "not JSON",
    b'[{"a":"\xff"}]': "not UTF-8: byte 0xff at position 6",
    b"[" * 10_000 + b"]" * 10_000: "nested too deeply",
    b'"x"': 'expected a JSON object, found "x"',
    b"7": "expected a JSON object, found 7",
    b'{"a":NaN}': "NaN is not a JSON number",
    b'{"a":-Infinity}': "-Infinity is not a JSON number",
    b'{"a":01}': "not JSON",
    b'{"a":1,}': "not JSON",
    b'{"a":"\xff"}': "not UTF-8: byte 0xff at position 6",
    b'{"b":"\xff"}': "not UTF-8: byte 0xff at position 6",
    b'{"b":"\xed\xa0\x80"}': "not UTF-8",
    b'{"b":' + b"[" * 10_000 + b"]" * 10_000 + b"}": "nested too deeply",
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000: "nested too deeply",
    b"\x00": "not JSON",
}


@pytest.mark.parametrize("message", BROKEN, ids=lambda message: repr(message[:30]))
def test_messages_that_are_no_object(message: bytes) -> None:
    decoded = decode(pa.string(), b'{"a":"x"}', message, b'{"a":"y"}')
    (error,) = decoded.errors
    assert error.index == 1
    assert BROKEN[message] in error.reason
    assert decoded.rows.column(0).to_pylist() == ["x", "y"]
    ignoring = decode(pa.string(), b'{"a":"x"}', message, b'{"a":"y"}', ignore_parse_errors=True)
    assert ignoring.message_index.to_pylist() == [0, 2]
    assert not ignoring.errors


@pytest.mark.parametrize("message", [None, b"", b" \r\n\t", b"null", b" null "])
def test_messages_that_give_no_row(message: bytes | None) -> None:
    decoded = decode(pa.int32(), message, b'{"a":1}', message)
    assert decoded.message_index.to_pylist() == [1]
    assert not decoded.errors


def test_line_breaks_and_a_byte_order_mark() -> None:
    decoded = decode(pa.int32(), b'{\r\n "a"\n:\n1\n}\n', b'\xef\xbb\xbf{"a":2}')
    assert decoded.rows.column(0).to_pylist() == [1, 2]


def test_map_keys_of_other_types() -> None:
    assert value(pa.map_(pa.int32(), pa.string()), '{"1":"x","-2":"y","01":"z"}') == [(1, "z"), (-2, "y")]
    assert value(pa.map_(pa.date32(), pa.int32()), '{"2024-01-01":1}') == [(date(2024, 1, 1), 1)]
    assert (
        reason(pa.map_(pa.int32(), pa.string()), '{"x":"y"}')
        == 'field a["x"]: "x" cannot be read as INT: not an integer'
    )


@pytest.mark.parametrize("payload", [b'{"a":"x"}', b'{"a":{"b":1}}', b"[1]", b"{", b'{"a":99999999999}'])
def test_a_row_is_skipped_where_errors_are_ignored_by_the_row(payload: bytes) -> None:
    good = b'{"a":1}'
    decoded = decode(pa.int32(), good, payload, good, ignore_parse_errors=True, ignored_scope="row")
    assert not decoded.errors
    assert decoded.rows.to_pylist() == [{"a": 1}, {"a": 1}]
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [0, 2]


def test_a_row_is_skipped_for_a_field_deep_inside() -> None:
    type_ = pa.list_(pa.map_(pa.string(), pa.struct([("b", pa.int32())])))
    message = b'{"a":[{"x":{"b":"no"}}]}'
    assert decode(type_, message, ignore_parse_errors=True).rows.to_pylist() == [{"a": [[("x", {"b": None})]]}]
    assert decode(type_, message, ignore_parse_errors=True, ignored_scope="row").rows.num_rows == 0
