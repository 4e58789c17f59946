"""JSON objects, beside ``from_json`` and ``to_json``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.data import SCHEMA, json_record
from bench.formats.case import FormatCase

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def json() -> FormatCase:
    """Make the case."""
    return FormatCase(
        "json",
        messages=lambda start, stop: list(map(json_record, range(start, stop))),
        bad=lambda message: message[:40],
        in_spark=_InSpark(),
        by_hand=None,
        decode_target=3,
        read_target=3,
        lenient={"json.ignore-parse-errors": "true"},
    )


class _InSpark:
    reads, writes = "from_json", "to_json"

    def rows(self, values: DataFrame) -> DataFrame:
        return values.selectExpr(f"from_json(string(value), '{SCHEMA}') record").select("record.*")

    def value(self) -> Column:
        from pyspark.sql.functions import expr

        return expr("to_json(struct(*))")
