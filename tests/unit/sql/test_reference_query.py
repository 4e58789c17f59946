"""The check that a query means the same to Spark after sqlglot has written it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from millrace_sql.errors import SqlError
from millrace_sql.planner import Scan, reference_query
from millrace_sql.planner.reference_query import ReferenceColumns
from support.streamed_changes import input_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def scans(spark: SparkSession) -> tuple[Scan, ...]:
    table = input_table(spark, "t", "stream INT, id INT, name STRING, v INT")
    return (Scan("rows_to_compare", table, needs_update_before=False),)


@pytest.mark.parametrize("condition", ["a > 1", "a IS NOT NULL"], ids=["analyzed alike", "analyzed otherwise"])
def test_an_order_that_spark_chooses_by_chance_refuses_no_query(
    spark: SparkSession, scans: tuple[Scan, ...], condition: str
) -> None:
    query = f"""SELECT * FROM (SELECT stream,
        COUNT(DISTINCT COALESCE(name, 'none')) AS a, MAX(CASE WHEN v > 2 THEN 1 ELSE v END) AS b,
        COUNT(*) FILTER (WHERE (name LIKE '%d' OR v IS DISTINCT FROM 2)) AS c,
        COUNT( DISTINCT name) FILTER (WHERE NOT ((name LIKE '%d' OR v IS DISTINCT FROM 2))) AS d
        FROM (SELECT stream, id, name AS name, v * 3 AS v FROM rows_to_compare) AS t GROUP BY stream) AS q
        WHERE {condition}"""
    # Spark's optimizer puts these into an order of hashes of numbers, which it counts up
    for others in range(10):
        for _ in range(others):
            _ = spark.sql("SELECT 1 AS one").schema
        assert ReferenceColumns.of(spark, scans, query).schema.names == ["stream", "a", "b", "c", "d"]


@pytest.mark.parametrize("number", [0, 29])
def test_each_column_is_compared(
    spark: SparkSession, scans: tuple[Scan, ...], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    columns = ", ".join(f"v + {number} AS c{number}" for number in range(30))
    written = reference_query.spark_sql
    monkeypatch.setattr(
        reference_query, "spark_sql", lambda tree: written(tree).replace(f"v + {number} AS", f"v - {number} AS")
    )
    with pytest.raises(SqlError, match="Spark reads it as written otherwise"):
        ReferenceColumns.of(spark, scans, f"SELECT {columns} FROM rows_to_compare")


@pytest.mark.parametrize(
    ("function", "other"),
    [("COUNT(DISTINCT v) AS a", "COUNT(v) AS a"), ("COUNT(DISTINCT name) AS b", "COUNT(DISTINCT id) AS b")],
    ids=["no longer DISTINCT", "another column"],
)
def test_distinct_aggregates_are_compared(
    spark: SparkSession, scans: tuple[Scan, ...], monkeypatch: pytest.MonkeyPatch, function: str, other: str
) -> None:
    query = """SELECT * FROM (SELECT stream, COUNT(DISTINCT v) AS a, COUNT(DISTINCT name) AS b, COUNT(DISTINCT id) AS c
        FROM rows_to_compare GROUP BY stream) AS q WHERE a IS NOT NULL"""
    written = reference_query.spark_sql
    monkeypatch.setattr(reference_query, "spark_sql", lambda tree: written(tree).replace(function, other))
    with pytest.raises(SqlError, match="Spark reads it as written otherwise"):
        ReferenceColumns.of(spark, scans, query)
