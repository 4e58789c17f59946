"""Writing seven typed columns to a topic as JSON, until the broker has acknowledged every record."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.data import records_frame
from bench.measure import MILLRACE, SPARK, Bench, Result, alternate, records_per_second

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WORK = "JSON write, 7 columns"
PARTITIONS = 4
TASKS = 4


def run(bench: Bench) -> list[Result]:
    """Measure writes."""
    rows = records_frame(bench.spark, bench.records, TASKS)

    def timed(write: Callable[[Bench, DataFrame, str], None]) -> float:
        with bench.topics.empty(PARTITIONS) as topic:
            speed = records_per_second(bench.records, lambda: write(bench, rows, topic))
            check_count(bench, topic)
        return speed

    series = alternate(bench, WORK, {SPARK: lambda: timed(spark_write), MILLRACE: lambda: timed(millrace_write)})
    return [Result(WORK, "records/s", series[MILLRACE], series[SPARK], target=1.5)]


def spark_write(bench: Bench, rows: DataFrame, topic: str) -> None:
    """Write with Spark's own connector."""
    values = rows.selectExpr("to_json(struct(*)) value")
    values.write.format("kafka").option("kafka.bootstrap.servers", bench.servers).option("topic", topic).save()


def millrace_write(bench: Bench, rows: DataFrame, topic: str) -> None:
    """Write with millrace, at least once."""
    sink = rows.write.format("millrace").option("properties.bootstrap.servers", bench.servers).mode("append")
    sink.option("topic", topic).option("format", "json").save()


def check_count(bench: Bench, topic: str) -> None:
    """Check that all records have arrived."""
    found = bench.topics.count(topic)
    if found != bench.records:
        raise RuntimeError(f"{found} records arrived instead of {bench.records}")
