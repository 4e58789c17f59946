"""Lines of CSV, beside ``from_csv`` and ``to_csv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.data import SCHEMA, csv_record
from bench.formats.case import FormatCase

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def csv() -> FormatCase:
    """Make the case."""
    return FormatCase(
        "csv",
        messages=lambda start, stop: list(map(csv_record, range(start, stop))),
        bad=lambda message: message[:20],
        in_spark=_InSpark(),
        by_hand=None,
        decode_target=2,
        read_target=1.5,
        lenient={"csv.ignore-parse-errors": "true"},
    )


class _InSpark:
    reads, writes = "from_csv", "to_csv"

    def rows(self, values: DataFrame) -> DataFrame:
        return values.selectExpr(f"from_csv(string(value), '{SCHEMA}') record").select("record.*")

    def value(self) -> Column:
        from pyspark.sql.functions import expr

        return expr("to_csv(struct(*))")
