"""Widening of sizes, nested types and schemas; test_matrix.py has the scalar types."""

from __future__ import annotations

import time

import pytest

from millrace_catalog.types import Column, Schema, least_common_type, parse_schema, parse_type, widen_schemas


@pytest.mark.parametrize(
    ("left", "right", "wide"),
    [
        ("DECIMAL(10, 2)", "DECIMAL(10, 4)", "DECIMAL(12, 4)"),
        ("DECIMAL(5, 5)", "DECIMAL(38, 0)", "STRING"),
        ("DECIMAL(20, 18)", "DECIMAL(36, 16)", "DECIMAL(38, 18)"),
        ("DECIMAL(20, 18)", "DECIMAL(37, 16)", "STRING"),
        ("TINYINT", "DECIMAL(4, 2)", "DECIMAL(5, 2)"),
        ("SMALLINT", "DECIMAL(4, 2)", "DECIMAL(7, 2)"),
        ("INT", "DECIMAL(4, 2)", "DECIMAL(12, 2)"),
        ("BIGINT", "DECIMAL(4, 2)", "DECIMAL(21, 2)"),
        ("BIGINT", "DECIMAL(38, 19)", "DECIMAL(38, 19)"),
        ("BIGINT", "DECIMAL(38, 20)", "STRING"),
        ("INT", "DECIMAL(10, 0)", "DECIMAL(10, 0)"),
        ("CHAR(3)", "CHAR(5)", "CHAR(5)"),
        ("VARCHAR(3)", "VARCHAR(5)", "VARCHAR(5)"),
        ("VARCHAR(3)", "CHAR(3)", "STRING"),
        ("VARCHAR(2147483647)", "STRING", "STRING"),
        ("BINARY(3)", "BINARY(5)", "BINARY(5)"),
        ("VARBINARY(3)", "BYTES", "BYTES"),
        ("BINARY(3)", "BYTES", "STRING"),
        ("TIME(3)", "TIME(6)", "TIME(6)"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(6)"),
        ("TIMESTAMP(9)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(9)"),
        ("TIMESTAMP_TZ(0)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_TZ(3)"),
        ("DATE", "TIMESTAMP(3)", "STRING"),
        ("NULL", "INT NOT NULL", "INT"),
        ("INT NOT NULL", "BIGINT NOT NULL", "BIGINT NOT NULL"),
        ("INT NOT NULL", "BIGINT", "BIGINT"),
        ("ARRAY<INT NOT NULL>", "ARRAY<BIGINT>", "ARRAY<BIGINT>"),
        ("ARRAY<NULL>", "ARRAY<INT>", "ARRAY<INT>"),
        ("ARRAY<INT>", "ARRAY<ARRAY<INT>>", "ARRAY<STRING>"),
        ("MAP<INT, FLOAT>", "MAP<BIGINT, INT>", "MAP<BIGINT, DOUBLE>"),
        ("ROW<a INT, b INT NOT NULL>", "ROW<c INT NOT NULL, a BIGINT>", "ROW<a BIGINT, b INT, c INT>"),
        ("ROW<a ROW<b INT>>", "ROW<a ROW<b STRING, c INT>>", "ROW<a ROW<b STRING, c INT>>"),
        ("ROW<a INT>", "MAP<STRING, INT>", "STRING"),
    ],
)
def test_types_widen_to(left: str, right: str, wide: str) -> None:
    assert str(least_common_type(parse_type(left), parse_type(right))) == wide
    assert least_common_type(parse_type(right), parse_type(left)) == parse_type(wide)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("DOUBLE", "INT"), ("ARRAY<BIGINT>", "ARRAY<NULL>"), ("ROW<a INT, b STRING>", "ROW<b INT NOT NULL> NOT NULL")],
)
def test_a_type_that_holds_the_other_is_the_result_itself(wide: str, narrow: str) -> None:
    type_ = parse_type(wide)
    assert least_common_type(type_, parse_type(narrow)) is type_


def test_rows_are_equal_whatever_the_order_of_their_fields() -> None:
    one, other = parse_type("ROW<a INT, b ROW<c INT, d INT>>"), parse_type("ROW<b ROW<d INT, c INT>, a INT>")
    assert one == other
    assert hash(one) == hash(other)
    assert one != parse_type("ROW<a INT, b ROW<c INT>>")
    assert one != parse_type("ROW<a INT, b ROW<c INT, d INT>> NOT NULL")


def test_schemas_widen_by_name_with_new_columns_at_the_end_and_nullable() -> None:
    current = parse_schema("id INT NOT NULL, name VARCHAR(5), old DATE NOT NULL")
    other = parse_schema("new BIGINT NOT NULL, id BIGINT NOT NULL, name VARCHAR(9)")

    wide = widen_schemas(current, other)

    assert str(wide) == "id BIGINT NOT NULL, name VARCHAR(9), old DATE, new BIGINT"


def test_two_schemas_of_1000_columns_widen_in_less_than_20_ms() -> None:
    types = parse_schema(
        "a INT, b BIGINT NOT NULL, c DECIMAL(10, 2), d STRING, e VARCHAR(9), f DOUBLE, g TIMESTAMP(3), h ARRAY<INT>, "
        "i ROW<a INT, b ROW<c INT, d STRING>>, j MAP<STRING, INT>, k TIMESTAMP_LTZ(6)"
    ).columns
    left, right = (
        Schema(tuple(Column(f"column {start + i}", types[i * step % len(types)].type) for i in range(1000)))
        for start, step in ((0, 1), (3, 7))
    )

    assert len(widen_schemas(left, right)) == 1003
    assert min(cpu_seconds(left, right) for _ in range(5)) < 0.02


def cpu_seconds(left: Schema, right: Schema) -> float:
    start = time.process_time()
    widen_schemas(left, right)
    return time.process_time() - start
