"""Reading a topic of JSON into Arrow without Spark, beside the same read by Spark, both by the time of processors."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.compute as pc

import millrace
from bench.cases.json_read import PARTITIONS, millrace_rows
from bench.cpu import cpu_seconds_of
from bench.data import SCHEMA, TOTALS, totals_of
from bench.measure import MILLRACE, Bench, Result, SameAnswer, alternate

WORK = "typed JSON read into Arrow, 7 columns"
BASE = "millrace in Spark"


def run(bench: Bench) -> list[Result]:
    """Measure reads."""
    topic = bench.topics.filled(PARTITIONS)
    options = {"properties.bootstrap.servers": bench.servers, "topic": topic, "format": "json"}
    answer = SameAnswer()

    def read_in_spark() -> None:
        totals = millrace_rows(bench, topic).selectExpr(*TOTALS).collect()[0]
        answer.check((totals.records, totals.id))

    def read() -> None:
        totals = pa.Table.from_batches(map(totals_of, millrace.read_arrow(options, SCHEMA)))
        answer.check((pc.sum(totals["records"]).as_py(), pc.sum(totals["id"]).as_py()))

    def read_here() -> float:
        started = time.process_time()
        read()
        return bench.records / (time.process_time() - started)

    contestants = {BASE: lambda: bench.records / cpu_seconds_of(read_in_spark), MILLRACE: read_here}
    series = alternate(bench, WORK, contestants)
    return [Result(WORK, "records/s of a core", series[MILLRACE], series[BASE], target=1, base=BASE)]
