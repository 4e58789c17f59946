"""Streams at 400 records a second, whose broker is some milliseconds away: micro-batches, and records on their way."""

from __future__ import annotations

import functools
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer
from pyspark.sql import SparkSession

from bench.batches import STUCK_S, await_batches
from bench.cases.micro_batch import PARTITIONS, RATE, SETTLING, steady_records
from bench.cases.network import AT_LEAST_ONCE
from bench.cpu import cpu_seconds_of
from bench.distance import PROCESSOR_TIME, alternate_at_distances, away
from bench.measure import MILLRACE, SPARK, Bench, Result, Run, Series

TO_NOOP, TO_NOOP_SPARK = "millrace, to noop", "Spark's own, to noop"
EXACTLY_ONCE = "millrace, exactly once"
ASYNCHRONOUS, ASYNCHRONOUS_SPARK = "millrace, asynchronous progress", "Spark's own, asynchronous progress"
REAL_TIME = "Spark's own, real-time mode"
SLOW_CHECKPOINTS = "millrace, Spark's default checkpoint writer"

P99 = "p99 ms"
_PROGRESS = ", asynchronous progress"
_SETTLING_RECORDS = 5 * RATE
_MEASURED_RECORDS = 10 * RATE
_TRANSACTIONS = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "bench-network"}
_ASYNCHRONOUS = {
    "asyncProgressTrackingEnabled": "true",
    "asyncProgressTrackingCheckpointIntervalMs": "1000",
    # Spark knows its own sinks only
    "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
}

_CHECKPOINT_WRITER = "spark.sql.streaming.checkpointFileManagerClass"
_DEFAULT_WRITER = "org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager"


@dataclass(frozen=True)
class _Stream:
    """A query from one topic to another.

    Attributes:
        connector: The name of the connector.
        servers: Its option for the broker's address.
        subscribe: Its option for the topic that is read.
        options: Further options of the sink.
        is_to_noop: Whether it writes to nowhere instead.
        trigger: Its trigger.
        checkpoint_writer: The class that writes its checkpoint; that of the session by default.
    """

    connector: str
    servers: str
    subscribe: str
    options: Mapping[str, str] = field(default_factory=dict)
    is_to_noop: bool = False
    trigger: Mapping[str, str] = field(default_factory=lambda: {"processingTime": "0 seconds"})
    checkpoint_writer: str | None = None

    @contextmanager
    def running(self, bench: Bench, source: str, target: str) -> Iterator[Any]:
        """Run the query, and stop it."""
        rows = bench.spark.readStream.format(self.connector).option(self.servers, bench.servers)
        values = rows.option(self.subscribe, source).load().selectExpr("key", "value")
        writer = values.writeStream.format("noop" if self.is_to_noop else self.connector).trigger(**self.trigger)
        if "realTime" in self.trigger:
            writer = writer.outputMode("update")
        if not self.is_to_noop:
            writer = writer.option(self.servers, bench.servers).option("topic", target).options(**self.options)
        with tempfile.TemporaryDirectory() as checkpoint, self._setting(bench.spark):
            query = writer.option("checkpointLocation", checkpoint).start()
            try:
                yield query
            finally:
                query.stop()

    @contextmanager
    def _setting(self, spark: SparkSession) -> Iterator[None]:
        usual = spark.conf.get(_CHECKPOINT_WRITER, _DEFAULT_WRITER)
        spark.conf.set(_CHECKPOINT_WRITER, self.checkpoint_writer or usual)
        try:
            yield
        finally:
            spark.conf.set(_CHECKPOINT_WRITER, usual)


@dataclass(frozen=True)
class _Comparison:
    """Two streams to compare.

    Attributes:
        kind: What is compared, after the work that all streams do.
        ours: One of the streams.
        other: The other one.
        limit: The largest ratio that is good enough, if any is.
        base: The name of the other one in the report; by default the same.
        figure: The further figure that is compared; by default the main one.
    """

    kind: str
    ours: str
    other: str
    limit: float | None
    base: str = ""
    figure: str = ""

    def result(self, work: str, distance_ms: int, series: Mapping[str, Series]) -> Result:
        """Compare what the streams measured at a distance."""
        ours, other = series[self.ours], series[self.other]
        if self.figure:
            ours, other = ours.figure_beside(self.figure), other.figure_beside(self.figure)
        named = f"{work}{self.kind}, {away(distance_ms)}"
        return Result(named, "ms", ours, other, self.limit, at_most=True, base=self.base or self.other)


_OWN = functools.partial(_Stream, "kafka", "kafka.bootstrap.servers", "subscribe")
_OURS = functools.partial(_Stream, "millrace", "properties.bootstrap.servers", "topic")


def run_micro_batches(bench: Bench) -> list[Result]:
    """Measure micro-batches: how long they take, and how many requests and connections."""
    streams = {
        TO_NOOP_SPARK: _OWN(is_to_noop=True),
        TO_NOOP: _OURS(is_to_noop=True),
        SPARK: _OWN(),
        MILLRACE: _OURS(),
        EXACTLY_ONCE: _OURS(options=_TRANSACTIONS),
    }
    compared = (
        _Comparison(", to noop", TO_NOOP, TO_NOOP_SPARK, 1.0, base=SPARK),
        _Comparison(", to a topic", MILLRACE, SPARK, 1.0),
        _Comparison(", exactly once", EXACTLY_ONCE, MILLRACE, 1.5, base=AT_LEAST_ONCE),
    )
    with bench.topics.empty(PARTITIONS) as target:
        measure = functools.partial(_micro_batches, target=target)
        return _at_distances(bench, f"micro-batch at {RATE} records/s", streams, measure, compared)


def run_latency(bench: Bench) -> list[Result]:
    """Measure how long a record takes from its writing to one topic until it is read from the other."""
    streams = {
        SPARK: _OWN(),
        ASYNCHRONOUS_SPARK: _OWN(options=_ASYNCHRONOUS),
        REAL_TIME: _OWN(trigger={"realTime": "5 minutes"}),
        SLOW_CHECKPOINTS: _OURS(checkpoint_writer=_DEFAULT_WRITER),
        MILLRACE: _OURS(),
        ASYNCHRONOUS: _OURS(options=_ASYNCHRONOUS),
    }
    compared = (
        _Comparison("", MILLRACE, SPARK, 1.0),
        _Comparison(_PROGRESS, ASYNCHRONOUS, SLOW_CHECKPOINTS, 0.5),
        _Comparison(f"{_PROGRESS}, p99", ASYNCHRONOUS, SLOW_CHECKPOINTS, 0.6, figure=P99),
        _Comparison(_PROGRESS, ASYNCHRONOUS, MILLRACE, 1.0),
        _Comparison(_PROGRESS, ASYNCHRONOUS, ASYNCHRONOUS_SPARK, 1.0),
        _Comparison(f"{_PROGRESS}, p99", ASYNCHRONOUS, ASYNCHRONOUS_SPARK, 1.0, figure=P99),
        _Comparison(_PROGRESS, ASYNCHRONOUS, REAL_TIME, None),
    )
    return _at_distances(bench, f"record to record at {RATE} records/s", streams, _latency, compared)


def _at_distances(
    bench: Bench,
    work: str,
    streams: Mapping[str, _Stream],
    measure: Callable[..., Run],
    compared: Iterable[_Comparison],
) -> list[Result]:
    """Measure streams at all distances, and compare some."""
    with bench.topics.empty(PARTITIONS) as source, steady_records(bench, source):
        runs = {name: functools.partial(measure, stream=stream, source=source) for name, stream in streams.items()}
        series = alternate_at_distances(bench, work, runs)
    return [
        comparison.result(work, distance, measured) for distance, measured in series.items() for comparison in compared
    ]


def _micro_batches(bench: Bench, stream: _Stream, source: str, target: str) -> Run:
    with stream.running(bench, source, target) as query:
        settled = await_batches(query, SETTLING)[-1]["batchId"]
        bench.far.take_traffic()
        progress: list[Any] = []
        cpu_s = cpu_seconds_of(lambda: progress.append(await_batches(query, SETTLING + bench.batches)[SETTLING:]))
        traffic, last = bench.far.take_traffic(), query.lastProgress["batchId"]
        records = sum(batch["numInputRows"] for batch in query.recentProgress if settled < batch["batchId"] <= last)
    batches = progress[-1]

    def median(step: str) -> float:
        return float(statistics.median(batch["durationMs"].get(step, 0) for batch in batches))

    count = last - settled
    beside = {
        "addBatch ms": median("addBatch"),
        "requests": traffic.requests.total() / count,
        "connections": traffic.connections / count,
        "processor ms": cpu_s / count * 1000,
        PROCESSOR_TIME: cpu_s / records * 1_000_000,
    }
    return Run(median("triggerExecution"), beside)


def _latency(bench: Bench, stream: _Stream, source: str) -> Run:
    with bench.topics.empty(PARTITIONS) as target, stream.running(bench, source, target) as query:
        latencies: list[list[float]] = []
        with bench.topics.reading(target, PARTITIONS) as consumer:
            _take(consumer, _SETTLING_RECORDS, query)
            cpu_s = cpu_seconds_of(lambda: latencies.append(_take(consumer, _MEASURED_RECORDS, query)))
    took = statistics.quantiles(latencies[-1], n=100, method="inclusive")
    return Run(took[49], {P99: took[98], PROCESSOR_TIME: cpu_s / _MEASURED_RECORDS * 1_000_000})


def _take(consumer: Consumer, count: int, query: Any) -> list[float]:
    """Return how long the next records were under way, in ms."""
    took: list[float] = []
    heard_at = time.monotonic()
    while len(took) < count:
        message = consumer.poll(0.1)
        if message is not None and not message.error():
            took.append((time.time_ns() - json.loads(message.value())["at"]) / 1e6)
            heard_at = time.monotonic()
        elif query.exception() or time.monotonic() - heard_at > STUCK_S:
            raise RuntimeError(f"{len(took)} of {count} records arrived: {query.exception()}")
    return took
