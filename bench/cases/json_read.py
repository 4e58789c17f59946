"""Reading a topic of JSON into seven typed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.data import SCHEMA, TOTALS
from bench.measure import MILLRACE, SPARK, Bench, Result, SameAnswer, alternate, records_per_second

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WORK = "typed JSON read, 7 columns"
PARTITIONS = 4


def run(bench: Bench) -> list[Result]:
    """Measure reads."""
    topic = bench.topics.filled(PARTITIONS)
    answer = SameAnswer()

    def read(rows: DataFrame) -> None:
        answer.check(rows.selectExpr(*TOTALS).collect()[0])

    series = alternate(
        bench,
        WORK,
        {
            SPARK: lambda: records_per_second(bench.records, lambda: read(spark_rows(bench, topic))),
            MILLRACE: lambda: records_per_second(bench.records, lambda: read(millrace_rows(bench, topic))),
        },
    )
    return [Result(WORK, "records/s", series[MILLRACE], series[SPARK], target=3)]


def spark_rows(bench: Bench, topic: str) -> DataFrame:
    """Return the rows of a topic by Spark's own connector."""
    source = bench.spark.read.format("kafka").option("kafka.bootstrap.servers", bench.servers)
    values = source.option("subscribe", topic).load()
    return values.selectExpr(f"from_json(string(value), '{SCHEMA}') record").select("record.*")


def millrace_rows(bench: Bench, topic: str) -> DataFrame:
    """Return the rows of a topic by millrace."""
    source = bench.spark.read.format("millrace").schema(SCHEMA).option("properties.bootstrap.servers", bench.servers)
    return source.option("topic", topic).option("format", "json").load()
