"""Values are printed as Flink prints them: by Java's classes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest
from pyspark.sql import types as sql

from millrace_sql.connectors.print import as_text


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (None, sql.LongType(), "null"),
        (60.0, sql.DoubleType(), "60.0"),
        (1e7, sql.DoubleType(), "1.0E7"),
        (-1.25e-4, sql.DoubleType(), "-1.25E-4"),
        (0.001, sql.DoubleType(), "0.001"),
        (0.0, sql.DoubleType(), "0.0"),
        (float("nan"), sql.DoubleType(), "NaN"),
        (float("-inf"), sql.DoubleType(), "-Infinity"),
        (0.10000000149011612, sql.FloatType(), "0.1"),
        (True, sql.BooleanType(), "true"),
        (Decimal("1.50"), sql.DecimalType(5, 2), "1.50"),
        (Decimal("1E+3"), sql.DecimalType(5, 0), "1000"),
        (b"\x01\xff", sql.BinaryType(), "[1, -1]"),
        (date(2023, 3, 25), sql.DateType(), "2023-03-25"),
        (time(12, 2), sql.TimeType(), "12:02"),
        (time(12, 2, 0, 500), sql.TimeType(), "12:02:00.000500"),
        (datetime(2023, 3, 25, 12, 2), sql.TimestampNTZType(), "2023-03-25T12:02"),
        (datetime(2023, 3, 25, 12, 2, 3, 4000), sql.TimestampNTZType(), "2023-03-25T12:02:03.004"),
        (datetime(2023, 3, 25, 12, 2, tzinfo=UTC), sql.TimestampType(), "2023-03-25T12:02:00Z"),
        ([1, None], sql.ArrayType(sql.LongType()), "[1, null]"),
        ({"a": 1}, sql.MapType(sql.StringType(), sql.LongType()), "{a=1}"),
        ((1, "x"), sql.StructType().add("a", sql.LongType()).add("b", sql.StringType()), "+I[1, x]"),
    ],
)
def test_values(value, type_, text):
    assert as_text(value, type_) == text
