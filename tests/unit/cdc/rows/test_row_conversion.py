"""Values of JSON in the types of columns."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import pytest

from millrace.errors import MalformedMessageError
from millrace_catalog.types import parse_schema
from millrace_cdc.rows.row_conversion import row_converter


def convert(columns: str, row: dict) -> str:
    return msgspec.json.encode(row_converter(parse_schema(columns))(row)).decode()


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("STRING", 5, '"5"'),
        ("STRING", True, '"true"'),
        ("STRING", {"a": [1, None]}, '"{\\"a\\":[1,null]}"'),
        ("BIGINT", "12", "12"),
        ("INT", Decimal("3.0"), "3"),
        ("BOOLEAN", "1", "true"),
        ("BOOLEAN", 0, "false"),
        ("DOUBLE", 2, "2.0"),
        ("DOUBLE", "3.5", "3.5"),
        ("DOUBLE", "NaN", '"NaN"'),
        ("FLOAT", "-Infinity", '"-Infinity"'),
        ("DECIMAL(20, 4)", "123456789012345.6789", "123456789012345.6789"),
        ("DECIMAL(10, 2)", Decimal("1.50"), "1.50"),
        ("DECIMAL(5)", Decimal("1E+3"), "1000"),
        ("STRING", Decimal("1.50"), '"1.50"'),
        ("STRING", {"a": Decimal("1.50")}, '"{\\"a\\":1.50}"'),
        ("DATE", "2024-01-02", '"2024-01-02"'),
        ("TIMESTAMP(3)", "2024-01-02 03:04:05.678", '"2024-01-02 03:04:05.678"'),
        ("TIMESTAMP_LTZ(3)", "2024-01-02 03:04:05", '"2024-01-02 03:04:05Z"'),
        ("TIMESTAMP_LTZ(3)", "2024-01-02 03:04:05+02:00", '"2024-01-02 03:04:05+02:00"'),
        ("TIMESTAMP(3)", "2024-01-02T03:04:05", '"2024-01-02 03:04:05"'),
        ("TIMESTAMP_LTZ(3)", "2024-01-02T03:04Z", '"2024-01-02 03:04Z"'),
        ("BYTES", "aGVsbG8=", '"aGVsbG8="'),
        ("ARRAY<STRING>", [1, None, "a"], '["1",null,"a"]'),
        ("ROW<a STRING, b INT>", {"b": 1, "c": 2}, '{"a":null,"b":1}'),
        ("MAP<STRING, STRING>", {"k": 1}, '{"k":"1"}'),
    ],
)
def test_a_value_has_the_one_form_of_its_type(type_, value, expected):
    assert convert(f"v {type_}", {"v": value}) == f'{{"v":{expected}}}'


def test_columns_are_in_the_order_of_the_table_and_missing_ones_are_null():
    assert convert("a INT, b INT, c INT", {"c": 3, "x": 9, "a": 1}) == '{"a":1,"b":null,"c":3}'


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("INT", "x"),
        ("INT", Decimal("1.5")),
        ("INT", Decimal("1E+999999999")),
        ("BOOLEAN", "no"),
        ("DATE", 5),
        ("DECIMAL(5, 1)", "NaN"),
        ("DECIMAL(5, 1)", Decimal("12345.6")),
        ("DECIMAL(5, 1)", Decimal("1E+999999999")),
        ("DECIMAL(5, 1)", "1E-999999999"),
    ],
)
def test_a_value_that_a_column_cannot_hold_is_refused_with_its_column(type_, value):
    with pytest.raises(MalformedMessageError, match="field v: expected "):
        convert(f"v {type_}", {"v": value})


def test_a_decimal_in_base64_is_refused_with_advice():
    with pytest.raises(MalformedMessageError, match=r"found 'AfQ='\. It may be a decimal in base64.*handling\.mode"):
        convert("v DECIMAL(5, 2)", {"v": "AfQ="})
