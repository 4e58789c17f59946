"""The tables of docs/sql-dialect.md say what the planner does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql.types import StringType

from differential.queries import QUERIES
from millrace_sql.errors import SqlError
from millrace_sql.planner import InputColumn, InputTable, plan_query
from millrace_sql.script_texts import Identifier, SqlText

PAGE = (Path(__file__).parents[3] / "docs" / "sql-dialect.md").read_text("utf-8")
TABLE = InputTable(Identifier(("cat", "db", "t")), (InputColumn("x", StringType()), InputColumn("ts", StringType())))


def _rows(title: str) -> list[tuple[str, str]]:
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \| `([^`]+)`", section, re.MULTILINE)


def _planned(expression: str) -> str:
    plan = plan_query(SqlText(f"SELECT {expression} FROM t"), lambda name, hints: TABLE, streaming=True)
    return plan.sql.removeprefix("SELECT ").partition(" FROM `millrace_")[0]


@pytest.mark.parametrize(("reference", "spark"), _rows("What is rewritten"))
def test_the_page_shows_what_spark_gets(reference: str, spark: str) -> None:
    assert _planned(reference) == spark


@pytest.mark.parametrize(("reference", "spark"), _rows("What is not supported"))
def test_the_page_shows_what_the_error_advises(reference: str, spark: str) -> None:
    with pytest.raises(SqlError) as caught:
        _planned(reference)
    assert spark in str(caught.value)


def test_the_page_has_both_tables() -> None:
    assert (len(_rows("What is rewritten")), len(_rows("What is not supported"))) == (25, 6)


def test_the_page_counts_the_queries_that_are_compared_with_flink() -> None:
    assert f"compares {len(QUERIES)} queries with Flink" in PAGE
