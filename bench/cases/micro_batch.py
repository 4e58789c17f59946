"""Latency of a small micro-batch from one topic to another, at 400 records a second."""

from __future__ import annotations

import functools
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.batches import await_batches
from bench.measure import MILLRACE, SPARK, Bench, Result, alternate

WORK = "micro-batch at 400 records/s"
PARTITIONS = 4
RATE = 400
SETTLING = 20
"""Number of micro-batches before those that count."""

_PRODUCER = Path(__file__).parents[1] / "steady_producer.py"
_OPTIONS = {
    SPARK: ("kafka", "kafka.bootstrap.servers", "subscribe"),
    MILLRACE: ("millrace", "properties.bootstrap.servers", "topic"),
}


def run(bench: Bench) -> list[Result]:
    """Measure micro-batches."""
    with (
        bench.topics.empty(PARTITIONS) as source,
        bench.topics.empty(PARTITIONS) as target,
        steady_records(bench, source),
    ):
        runs = {name: functools.partial(median_ms, bench, name, source, target) for name in _OPTIONS}
        series = alternate(bench, WORK, runs)
    return [Result(WORK, "ms", series[MILLRACE], series[SPARK], target=1.0, at_most=True)]


def median_ms(bench: Bench, name: str, source: str, target: str) -> float:
    """Copy records for some micro-batches, and return the median of their durations in ms."""
    connector, servers, subscribe = _OPTIONS[name]
    rows = bench.spark.readStream.format(connector).option(servers, bench.servers).option(subscribe, source).load()
    values = rows.selectExpr("key", "value")
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = values.writeStream.format(connector).option(servers, bench.servers).option("topic", target)
        query = writer.option("checkpointLocation", checkpoint).trigger(processingTime="0 seconds").start()
        try:
            return _median_of(await_batches(query, bench.batches + SETTLING)[SETTLING:])
        finally:
            query.stop()


def _median_of(batches: list[Any]) -> float:
    steps = sorted({step for batch in batches for step in batch["durationMs"]})
    medians = {step: statistics.median(batch["durationMs"].get(step, 0) for batch in batches) for step in steps}
    rows = statistics.median(batch["numInputRows"] for batch in batches)
    print(
        f"    {rows:.0f} records each; " + ", ".join(f"{step} {ms:.0f} ms" for step, ms in medians.items()), flush=True
    )
    return float(medians["triggerExecution"])


@contextmanager
def steady_records(bench: Bench, topic: str) -> Iterator[None]:
    """Write records to a topic, at the same rate until the block ends."""
    command = [sys.executable, str(_PRODUCER), bench.servers, topic, str(PARTITIONS), str(RATE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as producer:
        try:
            yield
        finally:
            # The end of its input ends it
            producer.communicate(timeout=30)
