"""Reads and writes of a broker that is some milliseconds away."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bench.cases.json_read import millrace_rows, spark_rows
from bench.cases.json_write import PARTITIONS, TASKS, check_count, millrace_write, spark_write
from bench.data import TOTALS, records_frame
from bench.distance import PROCESSOR_TIME, TUNED, alternate_at_distances, away, measured_rate
from bench.measure import MILLRACE, SPARK, Bench, Result, Run, SameAnswer, Series

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
        *_compare_reads(bench, "raw read", topic, _spark_values, _millrace_values, _RAW_TOTALS),
        *_compare_reads(bench, "typed JSON read", topic, spark_rows, millrace_rows, TOTALS),
    ]


def run_writes(bench: Bench) -> list[Result]:
    """Measure writes with default settings, with the best settings of Spark's own sink, and exactly once."""
    rows = records_frame(bench.spark, bench.records, TASKS)
    exactly_once = functools.partial(millrace_write, options=_TRANSACTIONS)
    writes: dict[str, Write] = {
        SPARK: spark_write,
        TUNED_SPARK: functools.partial(spark_write, properties=TUNED),
        MILLRACE: millrace_write,
        TUNED_MILLRACE: functools.partial(millrace_write, options=_OURS_TUNED),
        EXACTLY_ONCE: exactly_once,
    }

    def write(by: Write, far: Bench) -> Run:
        with far.topics.empty(PARTITIONS) as topic:
            run = measured_rate(far.records, lambda: by(far, rows, topic))
            if by is not exactly_once:
                check_count(far, topic)
        return run

    contestants = {name: functools.partial(write, by) for name, by in writes.items()}
    series = alternate_at_distances(bench, "JSON write", contestants)
    results = [result for distance, of_writes in series.items() for result in _compare_writes(distance, of_writes)]
    return [*results, *_beside_nearest("JSON write", series, target=0.9)]


def _compare_reads(
    bench: Bench, what: str, topic: str, own: Rows, ours: Rows, totals: Sequence[str]
) -> Iterator[Result]:
    answer = SameAnswer()

    def read(rows: Rows, far: Bench) -> Run:
        return measured_rate(far.records, lambda: answer.check(rows(far, topic).selectExpr(*totals).collect()[0]))

    contestants = {SPARK: functools.partial(read, own), MILLRACE: functools.partial(read, ours)}
    series = alternate_at_distances(bench, what, contestants)
    for distance, reads in series.items():
        yield Result(f"{what}, {away(distance)}", "records/s", reads[MILLRACE], reads[SPARK], target=2)
    yield from _beside_nearest(what, series, target=0.95)


def _compare_writes(distance_ms: int, series: Mapping[str, Series]) -> list[Result]:
    work = f"JSON write, {away(distance_ms)}"
    beside_tuned = functools.partial(Result, base=TUNED_SPARK)
    ours, ours_tuned, sparks_tuned = series[MILLRACE], series[TUNED_MILLRACE], series[TUNED_SPARK]
    processor = ours.figure_beside(PROCESSOR_TIME), sparks_tuned.figure_beside(PROCESSOR_TIME)
    return [
        Result(work, "records/s", ours, series[SPARK], target=2.0),
        beside_tuned(work, "records/s", ours, sparks_tuned, target=1.2),
        beside_tuned(f"{work}, processor time", "s per million", *processor, target=1.0, at_most=True),
        beside_tuned(f"{work}, the same settings", "records/s", ours_tuned, sparks_tuned, target=1.2),
        Result(f"{work}, exactly once", "records/s", series[EXACTLY_ONCE], ours, target=0.8, base=AT_LEAST_ONCE),
    ]


def _beside_nearest(work: str, series: Mapping[int, Mapping[str, Series]], target: float) -> Iterator[Result]:
    """Compare millrace at the largest distance with itself at the smallest one."""
    nearest, farthest = min(series), max(series)
    if nearest != farthest:
        base = f"{MILLRACE}, {away(nearest)}"
        near, far = series[nearest][MILLRACE], series[farthest][MILLRACE]
        yield Result(f"{work}, {away(farthest)}", "records/s", far, near, target=target, base=base)


def _spark_values(bench: Bench, topic: str) -> DataFrame:
    source = bench.spark.read.format("kafka").option("kafka.bootstrap.servers", bench.servers)
    return source.option("subscribe", topic).load().select("value")


def _millrace_values(bench: Bench, topic: str) -> DataFrame:
    source = bench.spark.read.format("millrace").option("properties.bootstrap.servers", bench.servers)
    return source.option("topic", topic).schema("value BINARY").load()
