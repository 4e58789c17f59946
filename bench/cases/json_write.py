"""Writing seven typed columns to a topic as JSON, until the broker has acknowledged every record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from bench.data import records_frame
from bench.measure import MILLRACE, SPARK, Bench, Result, alternate, records_per_second

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter

Write = Callable[["Bench", "DataFrame", str], None]

WORK = "JSON write, 7 columns"
UPSERT_WORK = "upsert write with JSON keys, 7 columns"
PARTITIONS = 4
TASKS = 4
NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


def run(bench: Bench) -> list[Result]:
    """Measure writes."""
    return [_measure(bench, WORK, spark_write, millrace_write, target=1.5)]


def run_upserts(bench: Bench) -> list[Result]:
    """Measure writes to an upsert table, beside records with keys."""
    return [_measure(bench, UPSERT_WORK, spark_write_with_keys, millrace_upsert, target=1.2)]


def _measure(bench: Bench, work: str, write_by_spark: Write, write_by_millrace: Write, target: float) -> Result:
    rows = records_frame(bench.spark, bench.records, TASKS)

    def timed(write: Write) -> float:
        with bench.topics.empty(PARTITIONS) as topic:
            speed = records_per_second(bench.records, lambda: write(bench, rows, topic))
            check_count(bench, topic)
        return speed

    series = alternate(bench, work, {SPARK: lambda: timed(write_by_spark), MILLRACE: lambda: timed(write_by_millrace)})
    return Result(work, "records/s", series[MILLRACE], series[SPARK], target=target)


def spark_write(bench: Bench, rows: DataFrame, topic: str, properties: Mapping[str, str] = NO_PROPERTIES) -> None:
    """Write with Spark's own connector, and properties of its client."""
    _spark_write(bench, rows.selectExpr("to_json(struct(*)) value"), topic, properties)


def spark_write_with_keys(bench: Bench, rows: DataFrame, topic: str) -> None:
    """Write keys, too, with Spark's own connector."""
    _spark_write(bench, rows.selectExpr("to_json(struct(id)) key", "to_json(struct(*)) value"), topic)


def _spark_write(bench: Bench, records: DataFrame, topic: str, properties: Mapping[str, str] = NO_PROPERTIES) -> None:
    client = {"bootstrap.servers": bench.servers, **properties}
    options = {f"kafka.{name}": value for name, value in client.items()}
    records.write.format("kafka").options(**options, topic=topic).save()


def millrace_write(bench: Bench, rows: DataFrame, topic: str, options: Mapping[str, str] = NO_PROPERTIES) -> None:
    """Write with millrace, at least once unless further options say otherwise."""
    _millrace_sink(bench, rows, topic).options(**options).save()


def millrace_upsert(bench: Bench, rows: DataFrame, topic: str) -> None:
    """Write to an upsert table, at least once."""
    table = {"connector": "upsert-kafka", "key.format": "json", "key.fields": "id"}
    _millrace_sink(bench, rows, topic).options(**table).save()


def _millrace_sink(bench: Bench, rows: DataFrame, topic: str) -> DataFrameWriter:
    sink = rows.write.format("millrace").option("properties.bootstrap.servers", bench.servers).mode("append")
    return sink.option("topic", topic).option("format", "json")


def check_count(bench: Bench, topic: str) -> None:
    """Check that all records have arrived."""
    arrived = bench.topics.count(topic)
    if arrived != bench.records:
        raise RuntimeError(f"{arrived} records arrived instead of {bench.records}")
