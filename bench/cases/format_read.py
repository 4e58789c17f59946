"""Reading a topic of a format into seven typed columns: fetching, decoding and all else that a read takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bench import in_worker
from bench.data import TOTALS
from bench.formats import format_case
from bench.formats.case import FormatCase
from bench.measure import MILLRACE, Bench, Result, SameAnswer, alternate, records_per_second
from bench.schema_registry import SchemaRegistry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITIONS = 4

Rows = Callable[["DataFrame"], "DataFrame"]


def run(bench: Bench, name: str) -> list[Result]:
    """Measure reads in a format."""
    work, results = f"read {name}", []
    with SchemaRegistry() as registry, tempfile.TemporaryDirectory() as folder:
        case, answer = format_case(name, registry, Path(folder)), SameAnswer()
        with bench.topics.of(name, PARTITIONS, case.messages) as topic:

            def speed(rows: DataFrame) -> float:
                return records_per_second(bench.records, lambda: answer.check(rows.selectExpr(*TOTALS).collect()[0]))

            for base, rows in _without_millrace(case).items():
                values = spark_values(bench, topic)
                contestants = {
                    base: lambda rows=rows, values=values: speed(rows(values)),
                    MILLRACE: lambda: speed(millrace_rows(bench, case, topic)),
                }
                series = alternate(bench, work, contestants)
                results.append(Result(work, "records/s", series[MILLRACE], series[base], case.read_target, base=base))
    return results


def spark_values(bench: Bench, topic: str) -> DataFrame:
    """Return the messages of a topic by Spark's own connector."""
    source = bench.spark.read.format("kafka").option("kafka.bootstrap.servers", bench.servers)
    return source.option("subscribe", topic).load().select("value")


def millrace_rows(bench: Bench, case: FormatCase, topic: str, more: Mapping[str, str] | None = None) -> DataFrame:
    """Return the rows of a topic by millrace."""
    source = bench.spark.read.format("millrace").schema(case.schema).options(**case.options, **(more or {}))
    source = source.option("properties.bootstrap.servers", bench.servers)
    return source.option("topic", topic).option("format", case.name).load()


def _without_millrace(case: FormatCase) -> dict[str, Rows]:
    """Other ways from messages to rows, by name."""
    ways: dict[str, Rows] = {}
    if case.in_spark is not None:
        ways[case.in_spark.reads] = case.in_spark.rows
    if case.by_hand is not None:
        work = in_worker.reading_columns_by_hand(case.by_hand)
        ways[case.by_hand.name] = lambda values: values.mapInArrow(work, case.schema)
    return ways
