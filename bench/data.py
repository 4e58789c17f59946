"""The records that are read and written: JSON objects of about 120 bytes with seven fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id BIGINT, user STRING, amount DOUBLE, ts TIMESTAMP, country STRING, qty INT, flag BOOLEAN"

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
"""An aggregation over all columns, so that none of them can be left out of a read."""

_COUNTRIES = ("AT", "CH", "DE", "DK", "ES", "FR", "IT", "PL")
_FIRST_SECOND = 1_772_323_200  # 2026-03-01 00:00:00 UTC
_DAY = 86_400
_TIMES = [f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}" for second in range(_DAY)]


def json_record(index: int) -> bytes:
    """The record of that index. Amounts are multiples of 1/4, so that their sum does not depend on its order."""
    return (
        f'{{"id": {index}, "user": "user-{index * 7919 % 100_000:06d}", "amount": {index % 4000 / 4}, '
        f'"ts": "2026-03-{index // _DAY % 31 + 1:02d} {_TIMES[index % _DAY]}", '
        f'"country": "{_COUNTRIES[index % 8]}", "qty": {index % 10}, "flag": {"true" if index % 3 == 0 else "false"}}}'
    ).encode()


def records_frame(spark: SparkSession, records: int, tasks: int) -> DataFrame:
    """The same records as rows of `SCHEMA`, computed while they are read at next to no cost."""
    return with_columns(spark.range(0, records, 1, tasks))


def with_columns(ids: DataFrame) -> DataFrame:
    """The records of the numbers in the column ``id``, as rows of `SCHEMA`."""
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
