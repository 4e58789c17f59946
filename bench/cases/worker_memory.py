"""Peak memory of one Python worker of Spark with millrace."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bench.cases import json_read, json_write
from bench.data import TOTALS, records_frame
from bench.measure import Bench, Result, Series
from bench.memory import watch_workers

LIMIT_MB = 350
LARGE_BYTES = 5_000_000_000


def run(bench: Bench) -> list[Result]:
    """Measure a read of many partitions."""
    return [
        _peak(bench, "worker memory, JSON read of 4 partitions", lambda: _read(bench, 4)),
        _peak(bench, "worker memory, JSON read of 1 partition", lambda: _read(bench, 1)),
        _peak(bench, "worker memory, JSON write", lambda: _write(bench)),
    ]


def run_large(bench: Bench) -> list[Result]:
    """Measure a partition that is far larger than a worker's memory may be."""
    with bench.topics.large(LARGE_BYTES) as topic:
        rows = bench.spark.read.format("millrace").option("properties.bootstrap.servers", bench.servers)
        values = rows.option("topic", topic).schema("value BINARY").load()
        once = dataclasses.replace(bench, runs=1)
        return [
            _peak(
                once,
                f"worker memory, 1 partition of {LARGE_BYTES / 1e9:.0f} GB",
                lambda: print(f"  {values.selectExpr('sum(length(value)) bytes').collect()[0].bytes:,} bytes"),
            )
        ]


def _peak(bench: Bench, work: str, do: Callable[[], None]) -> Result:
    peaks = []
    for _ in range(bench.runs):
        with watch_workers() as memory:
            do()
        print(f"  {work}: {memory.largest:.0f} MB", flush=True)
        peaks.append(memory.largest)
    return Result(work, "MB", Series(tuple(peaks)), None, target=LIMIT_MB, at_most=True)


def _read(bench: Bench, partitions: int) -> None:
    json_read.millrace_rows(bench, bench.topics.filled(partitions)).selectExpr(*TOTALS).collect()


def _write(bench: Bench) -> None:
    with bench.topics.empty(json_write.PARTITIONS) as topic:
        json_write.millrace_write(bench, records_frame(bench.spark, bench.records, json_write.TASKS), topic)
