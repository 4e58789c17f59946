"""A value that a declared type holds can be converted to it, and leaves a table as it was declared."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import Observation
from millrace_catalog.inference.declared_types import DeclaredTypes
from millrace_catalog.inference.json_types import JsonObjectColumns
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import parse_schema
from millrace_cdc.rows import exact_json
from millrace_cdc.rows.row_conversion import row_converter

TYPES = [
    "BOOLEAN",
    "TINYINT",
    "INT",
    "BIGINT",
    "DECIMAL(5, 2)",
    "DECIMAL(38)",
    "FLOAT",
    "DOUBLE",
    "CHAR(2)",
    "VARCHAR(5)",
]
TYPES += ["STRING", "BYTES", "VARBINARY(3)", "DATE", "TIME(0)", "TIME(3)", "TIMESTAMP(0)", "TIMESTAMP(6)"]
TYPES += ["TIMESTAMP_LTZ(3)", "TIMESTAMP_TZ(3)", "ARRAY<INT>", "MAP<STRING, DECIMAL(3, 1)>", "ROW<a INT, b BOOLEAN>"]
TEXTS = [
    "",
    "a",
    "abc",
    "AAEC",
    "AA==",
    "true",
    "TRUE",
    "1",
    "0",
    "+5",
    "012",
    "-1.50",
    ".5",
    "5.",
    "1e2",
    "NaN",
    "-Infinity",
]
TEXTS += ["2024-02-29", "2023-02-29", "10:00:00", "10:00:00.0", "10:00:00.123", "25:00:00", "2024-05-06 07:08:09"]
TEXTS += ["2024-05-06T07:08:09", "2024-05-06T07:08Z", "2024-05-06 07:08:09.5+01:00", "2024-05-06 07:08:09.123456789"]
NUMBERS = [
    "0",
    "1",
    "-1",
    "127",
    "128",
    "2147483648",
    "9223372036854775808",
    "1.0",
    "1.5",
    "1.50",
    "123.45",
    "0.125",
    "1e2",
    "1E-7",
]
NUMBERS += ["0.1", "16777217", "0.123456789012", "1e39", "1e400", "1e999999", "99999999999999999999999999999999999999"]

SCALARS = [*map(json.dumps, TEXTS), *NUMBERS, "null", "true", "false"]
VALUES = [*SCALARS, *(f"[{each}]" for each in SCALARS), *(f'{{"{name}":{each}}}' for name in "abk" for each in SCALARS)]
OBJECTS = JsonObjectColumns(FormatOptions())


def keep_and_convert(type_, values):
    """Let a table with a declared column take some values, and convert these to what the column has become."""
    tracker = SchemaTracker("t")
    tracker.create(parse_schema(f"v {type_}"))
    rows = [exact_json.decode(f'{{"v":{value}}}'.encode()) for value in values]
    for row in rows:
        columns = DeclaredTypes(tracker.schema.types).keep(OBJECTS.columns_of(row)[0], [row])
        tracker.observe(Observation("t", columns))
    is_same = str(tracker.schema) == f"v {type_}"
    convert = row_converter(tracker.schema)
    for row in rows:
        converted = exact_json.decode(exact_json.encode(convert(row)))["v"]
        if "DECIMAL" in type_ and is_same and isinstance(row["v"], int | Decimal):
            assert converted == row["v"]


@pytest.mark.parametrize("type_", TYPES)
@given(st.lists(st.sampled_from(VALUES), min_size=2, max_size=3))
def test_values_that_leave_their_column_as_declared_can_be_converted_to_it(type_, values):
    keep_and_convert(type_, values)


@pytest.mark.parametrize("type_", TYPES)
def test_each_value_that_leaves_its_column_as_declared_can_be_converted_to_it(type_):
    for value in VALUES:
        keep_and_convert(type_, [value])
