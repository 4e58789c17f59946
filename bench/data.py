"""The records that are read and written: JSON objects of about 120 bytes with seven fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id BIGINT, user STRING, amount DOUBLE, ts TIMESTAMP, country STRING, qty INT, flag BOOLEAN"

COLUMNS = ", ".join(column.split()[0] for column in SCHEMA.split(", "))

ARROW_SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "user": pa.string(),
        "amount": pa.float64(),
        "ts": pa.timestamp("us", "UTC"),
        "country": pa.string(),
        "qty": pa.int32(),
        "flag": pa.bool_(),
    }
)
"""The columns of a record in Arrow's types."""

TOTALS = (
    "count(1) records",
    "sum(id) id",
    "sum(length(user)) user",
    "sum(amount) amount",
    "max(ts) ts",
    "sum(length(country)) country",
    "sum(qty) qty",
    "count_if(flag) flag",
)
"""Aggregates over all columns, so that none can be left out of a read."""

TOTALS_SCHEMA = (
    "records BIGINT, id BIGINT, user BIGINT, amount DOUBLE, ts TIMESTAMP, country BIGINT, qty BIGINT, flag BIGINT"
)
"""Columns of `TOTALS`."""

SUMS_OF_TOTALS = tuple(
    f"{'max' if total.startswith('max') else 'sum'}({name}) {name}"
    for total, name in ((total, total.split()[-1]) for total in TOTALS)
)
"""Aggregates over the totals of several parts."""

ONE_TOTAL = "sum(id + length(user) + bigint(amount) + unix_seconds(ts) + length(country) + qty + int(flag)) total"
"""The cheapest aggregates that touch all columns."""

_COUNTRIES = ("AT", "CH", "DE", "DK", "ES", "FR", "IT", "PL")
_FIRST_SECOND = 1_772_323_200  # 2026-03-01 00:00:00 UTC
_DAY = 86_400
_TIMES = [f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}" for second in range(_DAY)]


def json_record(index: int) -> bytes:
    """Return the record of an index. Amounts are multiples of 1/4, so that their sum does not depend on its order."""
    return (
        f'{{"id": {index}, "user": "user-{index * 7919 % 100_000:06d}", "amount": {index % 4000 / 4}, '
        f'"ts": "2026-03-{index // _DAY % 31 + 1:02d} {_TIMES[index % _DAY]}", '
        f'"country": "{_COUNTRIES[index % 8]}", "qty": {index % 10}, "flag": {"true" if index % 3 == 0 else "false"}}}'
    ).encode()


def csv_record(index: int) -> bytes:
    """Return the record of an index as a line of CSV."""
    return (
        f"{index},user-{index * 7919 % 100_000:06d},{index % 4000 / 4},"
        f"2026-03-{index // _DAY % 31 + 1:02d} {_TIMES[index % _DAY]},"
        f"{_COUNTRIES[index % 8]},{index % 10},{'true' if index % 3 == 0 else 'false'}"
    ).encode()


def record_rows(start: int, stop: int) -> pa.RecordBatch:
    """Return records as rows of `SCHEMA`."""
    ids = np.arange(start, stop)
    seconds = _FIRST_SECOND + ids // _DAY % 31 * _DAY + ids % _DAY
    columns = {
        "id": ids,
        "user": [f"user-{number:06d}" for number in (ids * 7919 % 100_000).tolist()],
        "amount": ids % 4000 / 4,
        "ts": seconds * 1_000_000,
        "country": [_COUNTRIES[number] for number in (ids % 8).tolist()],
        "qty": ids % 10,
        "flag": ids % 3 == 0,
    }
    return pa.RecordBatch.from_arrays(
        [pa.array(columns[field.name], field.type) for field in ARROW_SCHEMA], schema=ARROW_SCHEMA
    )


def totals_of(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Compute `TOTALS` of some rows, as one row of `TOTALS_SCHEMA`."""
    columns = {name: rows.column(name) for name in ARROW_SCHEMA.names}
    lengths = {name: pc.utf8_length(columns[name]) for name in ("user", "country")}
    sums = {name: pc.sum(column) for name, column in {**columns, **lengths}.items() if name != "ts"}
    totals = {"records": pa.scalar(rows.num_rows), **sums, "ts": pc.max(columns["ts"])}
    kinds = {"amount": pa.float64(), "ts": columns["ts"].type}
    return pa.RecordBatch.from_pydict(
        {
            name: pa.array([totals[name].as_py()], kinds.get(name, pa.int64()))
            for name in (column.split()[0] for column in TOTALS_SCHEMA.split(", "))
        }
    )


def records_frame(spark: SparkSession, records: int, tasks: int) -> DataFrame:
    """Return records as rows of `SCHEMA`, computed while they are read at next to no cost."""
    return with_columns(spark.range(0, records, 1, tasks))


def with_columns(ids: DataFrame) -> DataFrame:
    """Return the records of the numbers in the column ``id``, as rows of `SCHEMA`."""
    countries = ", ".join(f"'{country}'" for country in _COUNTRIES)
    return ids.selectExpr(
        "id",
        "concat('user-', lpad(string(id * 7919 % 100000), 6, '0')) user",
        "(id % 4000) / 4.0D amount",
        f"timestamp_seconds({_FIRST_SECOND} + id) ts",
        f"element_at(array({countries}), int(id % 8) + 1) country",
        "int(id % 10) qty",
        "id % 3 = 0 flag",
    )
