"""Avro values as values of columns, by both readers, and messages that are malformed."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from unit.formats.avro.decoding import decode, logical, record
from unit.formats.avro.schemas import number, octets

NTZ, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
NOON = dt.datetime(2024, 5, 1, 12, 0, 0, 250_000)
MICROS = int(NOON.replace(tzinfo=dt.UTC).timestamp() * 1_000_000)


def connect_decimal(scale: str) -> dict[str, Any]:
    name = "org.apache.kafka.connect.data.Decimal"
    return {"type": "bytes", "connect.name": name, "connect.parameters": {"scale": scale}}


def value(type_: Any, of: pa.DataType, message: bytes, **options: Any) -> Any:
    decoded = decode(record(type_), pa.field("a", of), message, **options)
    assert not decoded.errors
    return decoded.rows.column(0).to_pylist()[0]


def reason(type_: Any, of: pa.DataType, message: bytes, *, nullable: bool = True) -> str:
    (error,) = decode(record(type_), pa.field("a", of, nullable), message).errors
    return error.reason


@pytest.mark.parametrize(
    ("type_", "of", "message", "expected"),
    [
        ("boolean", pa.bool_(), b"\1", True),
        ("int", pa.int8(), number(-128), -128),
        ("int", pa.int64(), number(2**31 - 1), 2**31 - 1),
        ("int", pa.float64(), number(7), 7.0),
        ("long", pa.int64(), number(-(2**63)), -(2**63)),
        ("long", pa.float32(), number(2**24 + 1), float(2**24)),
        ("long", pa.float64(), number(2**63 - 1), 2.0**63),
        ("float", pa.float64(), struct.pack("<f", 0.1), 0.10000000149011612),
        ("double", pa.float64(), struct.pack("<d", float("-inf")), float("-inf")),
        ("string", pa.string(), octets("ü😀".encode()), "ü😀"),
        ("string", pa.binary(), octets(b"\xff"), b"\xff"),
        ("bytes", pa.string(), octets(b"text"), "text"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, pa.string(), number(1), "B"),
        ({"type": "fixed", "name": "F", "size": 3}, pa.binary(), b"abc", b"abc"),
        ({"type": "fixed", "name": "F", "size": 12}, pa.binary(), b"abcdefghijkl", b"abcdefghijkl"),
        (logical("string", "uuid"), pa.string(), octets(b"x"), "x"),
        (
            {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"},
            pa.string(),
            bytes(range(16)),
            "00010203-0405-0607-0809-0a0b0c0d0e0f",
        ),
        (logical("int", "date"), pa.date32(), number(-1), dt.date(1969, 12, 31)),
        ("int", pa.date32(), number(1), dt.date(1970, 1, 2)),
        (logical("int", "time-millis"), pa.time64("us"), number(86_399_999), dt.time(23, 59, 59, 999_000)),
        (logical("long", "time-micros"), pa.time64("ns"), number(1_000_001), dt.time(0, 0, 1, 1)),
        (logical("long", "timestamp-millis"), UTC, number(MICROS // 1000), NOON.replace(tzinfo=dt.UTC)),
        (logical("long", "timestamp-millis"), NTZ, number(MICROS // 1000), NOON),
        (logical("long", "timestamp-micros"), NTZ, number(MICROS), NOON),
        (logical("long", "timestamp-nanos"), NTZ, number(MICROS * 1000 + 999), NOON),
        (logical("long", "timestamp-nanos"), NTZ, number(-1), dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        (logical("long", "local-timestamp-millis"), UTC, number(MICROS // 1000), NOON.replace(tzinfo=dt.UTC)),
        (logical("long", "local-timestamp-micros"), NTZ, number(MICROS), NOON),
        ({"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}, NTZ, number(MICROS), NOON),
        ({"type": "long", "connect.name": "io.debezium.time.Timestamp"}, NTZ, number(MICROS // 1000), NOON),
        ({"type": "int", "connect.name": "io.debezium.time.Date"}, pa.date32(), number(1), dt.date(1970, 1, 2)),
        (logical("long", "timestamp-micros"), pa.int64(), number(5), 5),
        (logical("bytes", "decimal", precision=4, scale=2), pa.decimal128(10, 2), octets(b"\xff"), Decimal("-0.01")),
        (logical("bytes", "decimal", precision=9, scale=3), pa.decimal128(5, 1), octets(b"\x04\xd3"), Decimal("1.2")),
        (logical("bytes", "decimal", precision=9, scale=3), pa.decimal128(5, 1), octets(b"\x04\xe2"), Decimal("1.3")),
        (logical("bytes", "decimal", precision=4, scale=0), pa.decimal128(38, 30), octets(b"\x07"), Decimal(7)),
        ("bytes", pa.decimal128(10, 2), octets(b"\x64"), Decimal("1.00")),
        (logical("bytes", "decimal", precision=2, scale=4), pa.decimal128(10, 4), octets(b"\x7b"), Decimal("0.0123")),
        (logical("bytes", "decimal", precision=2, scale=4), pa.decimal128(10, 2), octets(b"\x7b"), Decimal("0.01")),
        (logical("bytes", "decimal", precision=3, scale=-2), pa.decimal128(10, 2), octets(b"\x7b"), Decimal(12300)),
        (logical("bytes", "decimal", scale=3), pa.decimal128(10, 2), octets(b"\x7b"), Decimal("0.12")),
        (connect_decimal("4"), pa.decimal128(10, 4), octets(b"\x7b"), Decimal("0.0123")),
        (connect_decimal("four"), pa.binary(), octets(b"\x7b"), b"\x7b"),
        (
            {"type": "fixed", "name": "D", "size": 5, "logicalType": "decimal", "precision": 10, "scale": 2},
            pa.decimal128(10, 2),
            b"\xff\xff\xff\xff\x9c",
            Decimal("-1.00"),
        ),
        (
            {"type": "fixed", "name": "D", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 2},
            pa.decimal128(18, 2),
            b"\0\0\0\0\0\0\0\x64",
            Decimal("1.00"),
        ),
        (["null", "int"], pa.int32(), b"\0", None),
        (["int", "null"], pa.int32(), b"\0\x0e", 7),
        (["int"], pa.int32(), b"\0\x0e", 7),
        (["null", "string", "long"], pa.int64(), b"\4\x0e", 7),
        ("null", pa.string(), b"", None),
        ({"type": "array", "items": "int"}, pa.list_(pa.int32()), b"\3\4\2\4\2\6\0", [1, 2, 3]),
        (
            {"type": "map", "values": "int"},
            pa.map_(pa.string(), pa.int32()),
            b"\6\2a\2\2b\4\2a\6\0",
            [("a", 3), ("b", 2)],
        ),
        (record("string", "Inner"), pa.struct([("a", pa.string())]), octets(b"x"), {"a": "x"}),
        (record("string", "Inner"), pa.struct([("b", pa.int32())]), octets(b"x"), {"b": None}),
    ],
)
def test_values(type_: Any, of: pa.DataType, message: bytes, expected: Any) -> None:
    assert value(type_, of, message) == expected


def test_a_plain_number_in_a_timestamp_column_is_read_as_the_type_that_flink_derives() -> None:
    assert value("long", NTZ, number(MICROS // 1000)) == NOON
    assert value("long", NTZ, number(MICROS), legacy=False) == NOON
    assert value("int", pa.time64("us"), number(1000)) == dt.time(0, 0, 1)


@pytest.mark.parametrize(("branches", "message"), [(["null", record("int")], b"\0"), ([record("int"), "null"], b"\2")])
def test_the_null_branch_of_a_union_gives_no_row(branches: Any, message: bytes) -> None:
    decoded = decode(branches, pa.field("a", pa.int32()), message)
    assert not decoded.errors
    assert decoded.rows.num_rows == 0


def test_bytes_behind_the_value_are_ignored() -> None:
    assert value("int", pa.int32(), b"\x0e\xff\xff") == 7


@pytest.mark.parametrize(
    ("type_", "of", "message", "expected"),
    [
        ("int", pa.int32(), b"", "field a: the message ends within a number"),
        ("int", pa.int32(), b"\x80", "field a: the message ends within a number"),
        ("int", pa.int32(), b"\xff" * 10 + b"\1", "field a: a number of more than 64 bits"),
        ("int", pa.int64(), number(2**31), "field a: 2147483648 is not an int: beyond 32 bits"),
        ("int", pa.int8(), number(128), "field a: 128 cannot be read as TINYINT: beyond 8 bits"),
        ("boolean", pa.bool_(), b"\2", "field a: 0x02 is not a boolean: neither 0 nor 1"),
        ("float", pa.float32(), b"\0\0\0", "field a: a float of 4 bytes, but the message has 3 more"),
        ("string", pa.string(), number(5) + b"abc", "field a: a value of 5 bytes, but the message has 3 more"),
        ("string", pa.string(), number(-1), "field a: a value of -1 bytes, but the message has 0 more"),
        ("string", pa.string(), octets(b"a\xff"), "field a: not UTF-8: byte 0xff at position 1"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, pa.string(), number(1),
         "field a: symbol index 1, expected 0 to 0"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, pa.string(), number(-1),
         "field a: symbol index -1, expected 0 to 0"),
        (["null", "int"], pa.int32(), number(2), "field a: union branch index 2, expected 0 to 1"),
        (["null", "int"], pa.int32(), number(-1) + number(7), "field a: union branch index -1, expected 0 to 1"),
        (["null", "int", "string"], pa.int32(), number(-2) + number(7),
         "field a: union branch index -2, expected 0 to 2"),
        (logical("int", "date"), pa.date32(), number(10**7),
         "field a: 10000000 cannot be read as DATE: outside the years 0001 to 9999"),
        (logical("int", "time-millis"), pa.time64("us"), number(-1),
         "field a: -1 cannot be read as TIME: outside a day"),
        (logical("long", "timestamp-millis"), UTC, number(2**62),
         "field a: 4611686018427387904 cannot be read as TIMESTAMP: outside the years 0001 to 9999"),
        (logical("bytes", "decimal", precision=9, scale=2), pa.decimal128(3, 2), octets(b"\x03\xe8"),
         "field a: 10.00 cannot be read as DECIMAL(3,2): more than 1 digits before the point"),
        (logical("bytes", "decimal", precision=9, scale=2), pa.decimal128(3, 2), b"\0",
         "field a: 0 bytes cannot be read as DECIMAL(3,2)"),
        ("string", pa.int32(), octets(b"7"), "field a: the writer's string cannot be read as INT"),
        ("long", pa.int32(), number(7), "field a: the writer's long cannot be read as INT"),
        (connect_decimal("four"), pa.decimal128(10, 2), octets(b"\x7b"),
         "field a: the writer's bytes (decimal without a valid scale) cannot be read as DECIMAL(10,2)"),
        (["null", "string"], pa.int32(), b"\2\2x", "field a: the writer's string cannot be read as INT"),
        ({"type": "array", "items": "int"}, pa.list_(pa.int32()), number(9) + b"\0",
         "field a[0]: a block of 9 items, but the message has 1 bytes more"),
        ({"type": "array", "items": "string"}, pa.list_(pa.string()), b"\4\2a\2\xff\0",
         "field a[1]: not UTF-8: byte 0xff at position 0"),
        ({"type": "map", "values": "boolean"}, pa.map_(pa.string(), pa.bool_()), b"\4\2a\1\2b\2\0",
         'field a["b"]: 0x02 is not a boolean: neither 0 nor 1'),
        (record("boolean", "Inner"), pa.struct([("a", pa.bool_())]), b"\2",
         "field a.a: 0x02 is not a boolean: neither 0 nor 1"),
    ],
)  # fmt: skip
def test_errors_name_the_field_and_the_problem(type_: Any, of: pa.DataType, message: bytes, expected: str) -> None:
    assert reason(type_, of, message) == expected


def test_null_in_a_not_null_column_is_an_error() -> None:
    inner = pa.field("a", pa.int32(), False)
    for type_, of, message, path in (
        (["null", "int"], pa.int32(), b"\0", "a"),
        (["null", record("int", "Inner")], pa.struct([inner]), b"\0", "a"),
        (record(["null", "int"], "Inner"), pa.struct([inner]), b"\0", "a.a"),
        ({"type": "array", "items": ["null", "int"]}, pa.list_(inner), b"\4\2\2\0\0", "a[1]"),
        ({"type": "map", "values": ["null", "int"]}, pa.map_(pa.string(), inner), b"\2\2k\0\0", 'a["k"]'),
    ):
        assert reason(type_, of, message, nullable=False) == f"field {path}: NULL in a NOT NULL column"


def test_a_null_struct_has_no_null_fields() -> None:
    struct_ = pa.struct([pa.field("a", pa.int32(), False)])
    writer = ["null", record(["null", "int"], "Inner")]
    decoded = decode(record(writer), pa.field("a", struct_), b"\0", b"\2\0", b"\2\2\2")
    assert decoded.rows.column(0).to_pylist() == [None, {"a": 1}]
    assert [error.index for error in decoded.errors] == [1]


def test_many_items_that_take_no_bytes_are_an_error() -> None:
    for items in ("null", {"type": "fixed", "name": "F", "size": 0}, {"type": "record", "name": "E", "fields": []}):
        for count in (number(10**9), number(-(10**9)) + number(0), number(2**62)):
            (error,) = decode(
                record({"type": "array", "items": items}), pa.field("b", pa.string()), count + b"\0"
            ).errors
            assert error.reason.endswith("items that take no bytes; at most 1000000 are allowed")
    assert value({"type": "array", "items": "null"}, pa.list_(pa.string()), b"\6\0") == [None] * 3


def test_lists_that_exceed_the_memory_budget_are_an_error() -> None:
    fields = [{"name": f"f{n}", "type": ["null", "double"]} for n in range(200)]
    items = ["null", {"type": "record", "name": "Wide", "fields": fields}]
    of = pa.list_(pa.struct([(f"f{n}", pa.float64()) for n in range(200)]))
    bomb = number(2_000_000) + b"\0" * 2_000_001
    assert reason({"type": "array", "items": items}, of, bomb) == (
        "field a[0]: its lists would take more than 512 MiB as columns"
    )
    assert value({"type": "array", "items": items}, of, number(1000) + b"\0" * 1001) == [None] * 1000


def test_a_value_nested_too_deeply_is_an_error() -> None:
    node = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
    writer = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "n", "type": node}]}
    field = pa.field("a", pa.int32())
    for depth in (10_000, 1_000_000):
        (error,) = decode(writer, field, b"\2" + b"\2" * depth + b"\0").errors
        assert error.reason == "nested too deeply"
    assert decode(writer, field, b"\2\2\2\0").rows.to_pylist() == [{"a": 1}]


def test_a_large_message_is_read_and_a_truncated_one_is_an_error() -> None:
    type_ = {"type": "array", "items": "bytes"}
    large = number(50) + octets(b"x" * 1_000_000) * 50 + b"\0"
    assert len(value(type_, pa.list_(pa.binary()), large)) == 50
    assert reason(type_, pa.list_(pa.binary()), large[:-1]) == "field a[50]: the message ends within a number"
    assert reason(type_, pa.list_(pa.binary()), large[:-2]).startswith("field a[49]: a value of 1000000 bytes, but")


def test_one_malformed_message_among_thousands() -> None:
    good = [number(n) for n in range(5_000)]
    for place in (0, 1, 2_500, 4_999):
        messages = [*good[:place], b"\x80", *good[place:]]
        decoded = decode(record("long"), pa.field("a", pa.int64()), *messages)
        assert [error.index for error in decoded.errors] == [place]
        assert decoded.rows.column(0).to_pylist() == list(range(5_000))
        assert decoded.message_index.to_pylist() == [n for n in range(5_001) if n != place]
