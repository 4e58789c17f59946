"""JSON messages of rows."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import MessageError
from millrace_formats.json import JsonFormat, JsonOptions


def encode(rows: pa.RecordBatch, **options: Any) -> list[str]:
    encoded = JsonFormat(JsonOptions(**options)).encoder(rows.schema).encode(rows)
    assert encoded.size == sum(len(each or b"") for each in encoded.to_list())
    return [payload.decode() for payload in encoded.to_list()]


def column(type_: pa.DataType, *values: Any) -> pa.RecordBatch:
    return pa.record_batch([pa.array(values, type_)], schema=pa.schema([("a", type_)]))


def text(type_: pa.DataType, value: Any, **options: Any) -> str:
    """The JSON of one value."""
    (line,) = encode(column(type_, value), **options)
    return line.removeprefix('{"a":').removesuffix("}")


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (pa.bool_(), True, "true"),
        (pa.int8(), -128, "-128"),
        (pa.int64(), -(2**63), "-9223372036854775808"),
        (pa.string(), 'a"\\/\n\x01é\u2028😀', '"a\\"\\\\/\\n\\u0001é\u2028😀"'),
        (pa.binary(), b"\x00\xff", '"AP8="'),
        (pa.date32(), date(1, 1, 1), '"0001-01-01"'),
        (pa.time64("us"), time(1, 2, 3), '"01:02:03"'),
        (pa.time64("us"), time(1, 2, 3, 400000), '"01:02:03.4"'),
        (pa.list_(pa.int32()), [1, None], "[1,null]"),
        (pa.struct([("x", pa.date32()), ("y", pa.binary())]), {"x": None, "y": b"a"}, '{"x":null,"y":"YQ=="}'),
        (pa.map_(pa.string(), pa.int32()), [("k", 1), ("", None)], '{"k":1,"":null}'),
        (pa.map_(pa.int32(), pa.bool_()), [(-1, True)], '{"-1":true}'),
        (pa.map_(pa.date32(), pa.int8()), [(date(2024, 1, 2), 1)], '{"2024-01-02":1}'),
        (pa.list_(pa.timestamp("us")), [datetime(2024, 1, 2), None], '["2024-01-02 00:00:00",null]'),
    ],
)
def test_values(type_: pa.DataType, value: Any, expected: str) -> None:
    assert text(type_, value) == expected
    assert text(type_, None) == "null"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e9, "1000000000.0"),
        (1e10, "1.0e10"),
        (1e-5, "0.00001"),
        (1e-6, "1.0e-6"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
        (math.nan, '"NaN"'),
        (math.inf, '"Infinity"'),
        (-math.inf, '"-Infinity"'),
    ],
)
def test_floats(value: float, expected: str) -> None:
    assert text(pa.float64(), value) == expected
    assert text(pa.list_(pa.float64()), [value]) == f"[{expected}]"


def test_32_bit_floats_are_as_short_as_they_can_be() -> None:
    assert [text(pa.float32(), value) for value in (0.1, 1e10, 16777216.0)] == ["0.1", "1.0e10", "16777216.0"]


@pytest.mark.parametrize(
    ("value", "expected", "plain"),
    [
        ("1.5", "1.5", "1.500000000"),
        ("0", "0", "0.000000000"),
        ("0.000001", "0.000001", "0.000001000"),
        ("0.0000001", "1E-7", "0.000000100"),
        ("-0.000000001", "-1E-9", "-0.000000001"),
        ("100", "1E+2", "100.000000000"),
        ("-1230", "-1.23E+3", "-1230.000000000"),
        ("12345678901234567890123456789", "12345678901234567890123456789",
         "12345678901234567890123456789.000000000"),
    ],
)  # fmt: skip
def test_decimals(value: str, expected: str, plain: str) -> None:
    type_ = pa.decimal128(38, 9)
    assert text(type_, Decimal(value)) == expected
    assert text(type_, Decimal(value), decimal_as_plain_number=True) == plain
    assert text(pa.list_(type_), [Decimal(value)]) == f"[{expected}]"


def test_text_that_looks_like_a_decimal_on_its_way_stays_text() -> None:
    rows = pa.record_batch({"a": pa.array([Decimal("1.5")] * 2, pa.decimal128(5, 2)), "b": ["\x017", '"\\u00017"']})
    assert encode(rows) == ['{"a":1.5,"b":"\\u00017"}', '{"a":1.5,"b":"\\"\\\\u00017\\""}']


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(2024, 5, 1, 12, 0, 0), "2024-05-01 12:00:00"),
        (datetime(2024, 5, 1, 12, 0, 0, 500000), "2024-05-01 12:00:00.5"),
        (datetime(1, 1, 1, 0, 0, 0, 1), "0001-01-01 00:00:00.000001"),
    ],
)
def test_timestamps(value: datetime, expected: str) -> None:
    assert text(pa.timestamp("us"), value) == f'"{expected}"'
    assert text(pa.timestamp("us"), value, timestamp_format="ISO-8601") == f'"{expected.replace(" ", "T")}"'
    instant = pa.timestamp("us", "Europe/Berlin")
    assert text(instant, value.replace(tzinfo=UTC)) == f'"{expected}Z"'


def test_rows_that_are_written_one_by_one_stay_in_their_place() -> None:
    rows = column(pa.float64(), 1.0, math.nan, None, 2.0, -math.inf)
    assert encode(rows) == ['{"a":1.0}', '{"a":"NaN"}', '{"a":null}', '{"a":2.0}', '{"a":"-Infinity"}']


def test_null_fields_can_be_left_out() -> None:
    inner = pa.struct([("x", pa.int32()), ("l", pa.list_(pa.int32())), ("m", pa.map_(pa.string(), pa.int32()))])
    type_ = pa.list_(inner)
    value = [{"x": None, "l": [None], "m": [("k", None)]}, {"x": None, "l": None, "m": None}, None]
    assert text(type_, value, ignore_null_fields=True) == '[{"l":[null],"m":{"k":null}},{},null]'
    assert text(type_, value) == '[{"x":null,"l":[null],"m":{"k":null}},{"x":null,"l":null,"m":null},null]'
    assert encode(column(pa.int32(), None, 1), ignore_null_fields=True) == ["{}", '{"a":1}']


def test_times_beyond_the_years_that_can_be_read_are_errors() -> None:
    days = pa.array([0, 2932897], pa.int32()).view(pa.date32())
    with pytest.raises(MessageError, match=r"^column a, row 1: outside the years 0001 to 9999$"):
        encode(pa.record_batch([days], names=["a"]))
    instants = pa.array([-(2**62)], pa.int64()).view(pa.timestamp("us"))
    with pytest.raises(MessageError, match=r"^column a, row 0: outside the years"):
        encode(pa.record_batch([instants], names=["a"]))


def test_null_in_a_not_null_column_is_an_error() -> None:
    schema = pa.schema([pa.field("a", pa.int32(), nullable=False)])
    rows = pa.RecordBatch.from_arrays([pa.array([1, None], pa.int32())], schema=schema)
    with pytest.raises(MessageError, match=r"^column a, row 1: NULL in a NOT NULL column$"):
        encode(rows)


@pytest.mark.parametrize("kind", ["-U", "+U", "-D", None])
def test_only_insertions_are_written(kind: str | None) -> None:
    rows = column(pa.int32(), 1, 2)
    encoder = JsonFormat().encoder(rows.schema)
    assert len(encoder.encode(rows, pa.array(["+I", "+I"]))) == 2
    with pytest.raises(
        MessageError, match=rf"^row 1 has the row kind {kind}.*format json writes insertions".replace("+", r"\+")
    ):
        encoder.encode(rows, pa.array(["+I", kind]))
