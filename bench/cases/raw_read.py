"""Reading the values of a topic as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measure import MILLRACE, SPARK, Bench, Result, SameAnswer, alternate, records_per_second

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WORK = "raw read, values only"
PARTITIONS = 4


def run(bench: Bench) -> list[Result]:
    """Measure it."""
    topic = bench.topics.filled(PARTITIONS)
    own = bench.spark.read.format("kafka").option("kafka.bootstrap.servers", bench.servers).option("subscribe", topic)
    ours = bench.spark.read.format("millrace").option("properties.bootstrap.servers", bench.servers)
    answer = SameAnswer()

    def read(values: DataFrame) -> None:
        total = values.selectExpr("count(1) records", "sum(length(value)) bytes").collect()[0]
        answer.check(total)

    series = alternate(
        bench,
        WORK,
        {
            SPARK: lambda: records_per_second(bench.records, lambda: read(own.load().select("value"))),
            MILLRACE: lambda: records_per_second(
                bench.records, lambda: read(ours.schema("value BINARY").option("topic", topic).load())
            ),
        },
    )
    return [Result(WORK, "records/s", series[MILLRACE], series[SPARK], target=1.4)]
