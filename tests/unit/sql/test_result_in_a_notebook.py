"""Results of SQL as a notebook shows them."""

from __future__ import annotations

from pyspark.sql.types import LongType, StringType, StructField, StructType

from millrace_sql.execution.results import TableResult

COLUMNS = StructType([StructField("id", LongType()), StructField("name", StringType())])


def test_rows_are_a_table_without_a_script() -> None:
    shown = TableResult(COLUMNS, [(1, "<script>")])._repr_html_()
    assert "<th>id</th><th>name</th>" in shown
    assert "<script" not in shown


def test_many_rows_are_cut_and_say_so() -> None:
    shown = TableResult(COLUMNS, [(number, "a") for number in range(1500)])._repr_html_()
    assert "the first 100 of 1,500 rows" in shown
    assert shown.count("<tr>") == 101


def test_rows_that_a_query_makes_are_not_taken() -> None:
    rows = iter([(1, "a")])
    assert ".collect()" in TableResult(COLUMNS, rows)._repr_html_()
    assert next(rows) == (1, "a")
