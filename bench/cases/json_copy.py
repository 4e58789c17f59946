"""Reading JSON from one topic into seven typed columns, and writing them to another as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bench.cases.json_read import millrace_rows, spark_rows
from bench.cases.json_write import check_count, millrace_write, spark_write
from bench.measure import MILLRACE, SPARK, Bench, Result, alternate, records_per_second

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WORK = "JSON from topic to topic, 7 columns"
PARTITIONS = 4


def run(bench: Bench) -> list[Result]:
    """Measure copies."""
    source = bench.topics.filled(PARTITIONS)

    def timed(
        read: Callable[[Bench, str], DataFrame], write: Callable[[Bench, DataFrame, str], None]
    ) -> Callable[[], float]:
        def copy() -> float:
            with bench.topics.empty(PARTITIONS) as target:
                speed = records_per_second(bench.records, lambda: write(bench, read(bench, source), target))
                check_count(bench, target)
            return speed

        return copy

    series = alternate(
        bench, WORK, {SPARK: timed(spark_rows, spark_write), MILLRACE: timed(millrace_rows, millrace_write)}
    )
    return [Result(WORK, "records/s", series[MILLRACE], series[SPARK], target=1.8)]
