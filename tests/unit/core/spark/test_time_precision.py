"""Times have no more digits than their Spark type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import ArrayType, DataType, IntegerType, MapType, StringType, StructType, TimeType

from millrace.spark.schema import arrow_schema
from millrace.spark.time_precision import batch_truncation

FINE = dt.time(12, 34, 56, 123456)
SECONDS = dt.time(12, 34, 56)


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (TimeType(0), FINE, SECONDS),
        (TimeType(3), FINE, dt.time(12, 34, 56, 123000)),
        (TimeType(5), dt.time(23, 59, 59, 999999), dt.time(23, 59, 59, 999990)),
        (TimeType(3), None, None),
        (ArrayType(TimeType(0)), [FINE, None], [SECONDS, None]),
        (
            MapType(StringType(), TimeType(0)),
            [("a", FINE), ("b", None)],
            [("a", SECONDS), ("b", None)],
        ),
        (MapType(TimeType(0), TimeType(6)), [(FINE, FINE)], [(SECONDS, FINE)]),
        (
            StructType().add("a", TimeType(0)).add("b", TimeType(6)),
            {"a": FINE, "b": FINE},
            {"a": SECONDS, "b": FINE},
        ),
        (
            ArrayType(StructType().add("m", MapType(IntegerType(), TimeType(1)))),
            [{"m": [(1, FINE)]}, None],
            [{"m": [(1, dt.time(12, 34, 56, 100000))]}, None],
        ),
    ],
)
def test_digits_beyond_the_precision_are_cut(type_: DataType, value: Any, expected: Any) -> None:
    columns = StructType().add("t", type_).add("other", TimeType(6))
    truncate = batch_truncation(columns)
    assert truncate is not None
    schema = arrow_schema(columns)
    batch = pa.RecordBatch.from_arrays(
        [pa.array([None, value, value], schema.field(0).type), pa.array([FINE] * 3, schema.field(1).type)],
        schema=schema,
    )
    for rows, wanted in ((batch, [None, expected, expected]), (batch.slice(1, 1), [expected])):
        truncated = truncate(rows)
        truncated.validate(full=True)
        assert truncated.column(0).to_pylist() == wanted
        assert set(truncated.column(1).to_pylist()) == {FINE}
        assert truncated.schema == schema


def test_columns_without_such_times_cost_nothing() -> None:
    nested = ArrayType(StructType().add("d", TimeType(6)))
    assert batch_truncation(StructType().add("a", TimeType(6)).add("b", "string").add("c", nested)) is None
