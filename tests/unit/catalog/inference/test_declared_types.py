"""Declared types of columns, and the values that they hold."""

from __future__ import annotations

from decimal import Decimal

import pytest

from millrace_catalog.inference.declared_types import DeclaredTypes
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import parse_schema

OBJECTS = JsonObjectColumns(FormatOptions())


def kept(type_, *values):
    rows = [{"v": value} for value in values]
    columns = OBJECTS.columns_of(rows[0])[0]
    return str(DeclaredTypes(parse_schema(f"v {type_}").types).keep(columns, rows)["v"]).removesuffix(" NOT NULL")


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("TINYINT", -128),
        ("INT", 5),
        ("INT", "5"),
        ("INT", Decimal("5.0")),
        ("BIGINT", "12"),
        ("DECIMAL(10, 2)", Decimal("12.5")),
        ("DECIMAL(10, 2)", Decimal("12.500")),
        ("DECIMAL(10, 2)", "12.50"),
        ("DECIMAL(10, 2)", 5),
        ("DECIMAL(3, 3)", 0),
        ("DECIMAL(38, 18)", Decimal("12345678901234567890.123456789012345678")),
        ("FLOAT", Decimal("1.5")),
        ("FLOAT", Decimal("0.10000000149011612")),
        ("FLOAT", 7),
        ("DOUBLE", "NaN"),
        ("BOOLEAN", 1),
        ("BYTES", "AAEC"),
        ("VARBINARY(3)", "AAEC"),
        ("CHAR(3)", "abc"),
        ("VARCHAR(10)", "abc"),
        ("VARCHAR(10)", 5),
        ("DATE", "2024-05-06"),
        ("TIME(0)", "10:00:00"),
        ("TIME(0)", "10:00:00.000"),
        ("TIMESTAMP(3)", "2024-01-01 10:00:00"),
        ("TIMESTAMP(3)", "2024-01-01T10:00:00.123000"),
        ("TIMESTAMP_LTZ(3)", "2024-01-01 10:00:00.123+01:00"),
        ("ARRAY<INT>", [1, None]),
        ("MAP<STRING, DECIMAL(3, 1)>", {"a": Decimal("1.5")}),
        ("ROW<a INT, b STRING>", {"a": 1}),
    ],
)
def test_a_value_that_a_declared_type_holds_does_not_change_it(type_, value):
    assert kept(type_, value) == type_


@pytest.mark.parametrize(
    ("type_", "value", "needed"),
    [
        ("TINYINT", 128, "BIGINT"),
        ("DOUBLE", {"a": 1}, "STRING"),
        ("DOUBLE", [1], "ARRAY<BIGINT NOT NULL>"),
        ("BOOLEAN", Decimal("1.0"), "DOUBLE"),
        ("INT", Decimal("1.5"), "DOUBLE"),
        ("INT", Decimal("1E+999999999"), "DOUBLE"),
        ("DECIMAL(10, 2)", Decimal("12.345"), "DECIMAL(11, 3)"),
        ("DECIMAL(10, 2)", "abc", "STRING"),
        ("FLOAT", Decimal("0.12345678901"), "DOUBLE"),
        ("VARBINARY(2)", "AAEC", "STRING"),
        ("BYTES", "no base64", "STRING"),
        ("VARCHAR(2)", "abc", "STRING"),
        ("TIME(0)", "10:00:00.5", "STRING"),
        ("TIMESTAMP(3)", "2024-01-01 10:00:00.1234", "TIMESTAMP(6)"),
        ("TIMESTAMP(3)", "2024-01-01 10:00:00Z", "TIMESTAMP_LTZ(6)"),
        ("TIMESTAMP(3)", "2024-02-30 10:00:00", "STRING"),
        ("ARRAY<INT>", [3_000_000_000], "ARRAY<BIGINT NOT NULL>"),
    ],
)
def test_another_value_needs_the_type_that_it_has(type_, value, needed):
    assert kept(type_, value) == needed


def test_all_rows_of_a_change_count():
    assert kept("VARCHAR(3)", "abc", "abcd") == "STRING"
    assert kept("DECIMAL(4, 1)", Decimal("1.5"), Decimal("1.25")) == "DECIMAL(5, 2)"


def test_nulls_and_missing_columns_need_nothing():
    columns = OBJECTS.columns_of({"a": None})[0]
    assert DeclaredTypes(parse_schema("a INT, b INT").types).keep(columns, [{"a": None}]) == columns


def test_a_type_that_was_held_is_looked_at_again_when_another_one_comes():
    declared = DeclaredTypes(parse_schema("v VARCHAR(3)").types)
    kinds = []
    for value in (None, "abc", "abcd", "abc"):
        columns = OBJECTS.columns_of({"v": value})[0]
        kinds.append(declared.keep(columns, [{"v": value}])["v"].kind)
    assert kinds == ["NULL", "VARCHAR", "STRING", "VARCHAR"]
