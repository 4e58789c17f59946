"""Reads and writes of a broker that is some milliseconds away."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bench.cases.json_read import millrace_rows, spark_rows
from bench.cases.json_write import PARTITIONS, TASKS, check_count, millrace_write, spark_write
from bench.data import TOTALS, records_frame
from bench.distance import TUNED, at_distances, measured_rate
from bench.measure import MILLRACE, SPARK, Bench, Result, Run, SameAnswer, alternate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Rows = Callable[[Bench, str], "DataFrame"]
Write = Callable[[Bench, "DataFrame", str], None]

TUNED_SPARK = "Spark's own, tuned"
TUNED_MILLRACE = "millrace, the same settings"
EXACTLY_ONCE = "millrace, exactly once"
AT_LEAST_ONCE = "millrace at least once"

_RAW_TOTALS = ("count(1)", "sum(length(value))")
_OURS_TUNED = {f"properties.{name}": value for name, value in TUNED.items()}
_TRANSACTIONS = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "bench-network"}


def run_reads(bench: Bench) -> list[Result]:
    """Measure reads of values as they are, and of typed JSON."""
    topic = bench.topics.filled(PARTITIONS)
    return [
        result
        for far, distance in at_distances(bench)
        for result in (
            _compare_reads(far, f"raw read, {distance}", topic, _spark_values, _millrace_values, _RAW_TOTALS),
            _compare_reads(far, f"typed JSON read, {distance}", topic, spark_rows, millrace_rows, TOTALS),
        )
    ]


def run_writes(bench: Bench) -> list[Result]:
    """Measure writes with default settings, with the best settings of Spark's own sink, and exactly once."""
    return [result for far, distance in at_distances(bench) for result in _compare_writes(far, distance)]


def _compare_reads(far: Bench, work: str, topic: str, own: Rows, ours: Rows, totals: Sequence[str]) -> Result:
    answer = SameAnswer()

    def read(rows: Rows) -> Run:
        return measured_rate(far.records, lambda: answer.check(rows(far, topic).selectExpr(*totals).collect()[0]))

    series = alternate(far, work, {SPARK: lambda: read(own), MILLRACE: lambda: read(ours)})
    return Result(work, "records/s", series[MILLRACE], series[SPARK], target=2)


def _compare_writes(far: Bench, distance: str) -> list[Result]:
    rows, work = records_frame(far.spark, far.records, TASKS), f"JSON write, {distance}"

    def write(by: Write) -> Run:
        with far.topics.empty(PARTITIONS) as topic:
            run = measured_rate(far.records, lambda: by(far, rows, topic))
            if by is not exactly_once:
                check_count(far, topic)
        return run

    exactly_once = functools.partial(millrace_write, options=_TRANSACTIONS)
    writes: dict[str, Write] = {
        SPARK: spark_write,
        TUNED_SPARK: functools.partial(spark_write, properties=TUNED),
        MILLRACE: millrace_write,
        TUNED_MILLRACE: functools.partial(millrace_write, options=_OURS_TUNED),
        EXACTLY_ONCE: exactly_once,
    }
    series = alternate(far, work, {name: functools.partial(write, by) for name, by in writes.items()})

    def beside(name: str, base: str, target: float, kind: str = "") -> Result:
        return Result(f"{work}{kind}", "records/s", series[name], series[base], target=target, base=base)

    return [
        beside(MILLRACE, SPARK, 2.0),
        beside(MILLRACE, TUNED_SPARK, 1.2),
        beside(TUNED_MILLRACE, TUNED_SPARK, 1.2, ", the same settings"),
        Result(f"{work}, exactly once", "records/s", series[EXACTLY_ONCE], series[MILLRACE], 0.8, base=AT_LEAST_ONCE),
    ]


def _spark_values(bench: Bench, topic: str) -> DataFrame:
    source = bench.spark.read.format("kafka").option("kafka.bootstrap.servers", bench.servers)
    return source.option("subscribe", topic).load().select("value")


def _millrace_values(bench: Bench, topic: str) -> DataFrame:
    source = bench.spark.read.format("millrace").option("properties.bootstrap.servers", bench.servers)
    return source.option("topic", topic).schema("value BINARY").load()
