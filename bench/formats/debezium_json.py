"""Debezium's changes in JSON, beside ``from_json`` with the envelope's schema, and its rows made of both images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.changes import change
from bench.data import COLUMNS, SCHEMA, json_record
from bench.formats.case import FormatCase

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ENVELOPE = f"before STRUCT<{SCHEMA}>, after STRUCT<{SCHEMA}>, op STRING"
_ROWS = """
    CASE op
    WHEN 'u' THEN array(struct('-U' AS row_kind, before AS record), struct('+U' AS row_kind, after AS record))
    WHEN 'd' THEN array(struct('-D' AS row_kind, before AS record))
    ELSE array(struct('+I' AS row_kind, after AS record))
    END
"""
_MESSAGE = f"""
    CASE WHEN row_kind IN ('+I', '+U')
    THEN to_json(named_struct('before', NULL, 'after', struct({COLUMNS}), 'op', 'c'))
    ELSE to_json(named_struct('before', struct({COLUMNS}), 'after', NULL, 'op', 'd'))
    END
"""


def debezium_json() -> FormatCase:
    """Make the case: of ten changes five are updates, four insertions and one a deletion; 490 bytes on average."""
    return FormatCase(
        "debezium-json",
        messages=lambda start, stop: list(map(_message, range(start, stop))),
        bad=lambda message: message[:-10],
        in_spark=_InSpark(),
        by_hand=None,
        decode_target=3,
        read_target=2.2,
        lenient={"debezium-json.ignore-parse-errors": "true"},
        has_row_kinds=True,
    )


class _InSpark:
    reads, writes = "from_json and inline", "to_json"

    def rows(self, values: DataFrame) -> DataFrame:
        changes = values.selectExpr(f"from_json(string(value), '{_ENVELOPE}') change").select("change.*")
        return changes.selectExpr(f"inline({_ROWS})").select("row_kind", "record.*")

    def value(self) -> Column:
        from pyspark.sql.functions import expr

        return expr(_MESSAGE)


def _message(index: int) -> bytes:
    row, kind = json_record(index), index % 10
    before = None if 5 <= kind < 9 else json_record(index + 1)
    return change(index, before, None if kind == 9 else row, "orders")
