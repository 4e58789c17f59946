"""Streams that read a backlog in limited micro-batches, and the bytes that they get from their broker for that."""

from __future__ import annotations

import dataclasses
import functools
import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.cpu import cpu_seconds_of
from bench.data import SCHEMA, json_record
from bench.distance import PROCESSOR_TIME, alternate_at_distances, away
from bench.measure import MILLRACE, SPARK, Bench, Result, Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITIONS = 4
LIMITS = {None: 1.13, 100_000: 1.13, 30_000: 1.13, 5_000: 1.5}
"""Records in a micro-batch, and how many bytes may come from the broker for each byte of a value."""

MAX_BATCHES = 40
"""Micro-batches that a run has at most: small ones would take minutes."""

TYPED = "millrace, typed JSON"
TYPED_SPARK = "Spark's own, typed JSON"
FETCHED = "bytes for each byte read"


def run(bench: Bench) -> list[Result]:
    """Measure the bytes, and the rates, at the smallest and the largest distance."""
    topic = bench.topics.filled(PARTITIONS)
    ends = dataclasses.replace(bench, distances_ms=tuple(sorted({min(bench.distances_ms), max(bench.distances_ms)})))
    return [result for limit, most in LIMITS.items() for result in _compare(ends, topic, limit, most)]


def _compare(bench: Bench, topic: str, limit: int | None, most: float) -> list[Result]:
    work = "stream" if limit is None else f"stream of {limit:,} records a micro-batch"
    rows = {
        SPARK: functools.partial(_spark_rows, is_typed=False),
        MILLRACE: functools.partial(_millrace_rows, is_typed=False),
        TYPED_SPARK: functools.partial(_spark_rows, is_typed=True),
        TYPED: functools.partial(_millrace_rows, is_typed=True),
    }
    contestants = {name: functools.partial(_read, rows=of, topic=topic, limit=limit) for name, of in rows.items()}
    results = []
    for distance, series in alternate_at_distances(bench, work, contestants).items():
        named = f"{work}, {away(distance)}"
        for ours, own in ((MILLRACE, SPARK), (TYPED, TYPED_SPARK)):
            kind = ", typed JSON" if ours == TYPED else ""
            results.append(Result(f"{named}{kind}", "records/s", series[ours], series[own], target=1.0))
            fetched = series[ours].figure_beside(FETCHED)
            results.append(Result(f"{named}{kind}", FETCHED, fetched, None, target=most, at_most=True))
    return results


def _read(bench: Bench, rows: Any, topic: str, limit: int | None) -> Run:
    ends = bench.topics.ends(topic)
    wanted = len(ends) * min(ends) if limit is None else min(len(ends) * min(ends), limit * MAX_BATCHES)
    start = [end - wanted // len(ends) for end in ends]
    progress: list[Sequence[Mapping[str, Any]]] = []
    bench.far.take_traffic()
    cpu_s = cpu_seconds_of(lambda: progress.append(_batches(rows(bench, topic, start, limit))))
    answered = bench.far.take_traffic().answered_bytes / len(progress)
    records = sum(batch["numInputRows"] for batch in progress[-1])
    if records != sum(ends) - sum(start):
        raise RuntimeError(f"the stream read {records} of {sum(ends) - sum(start)} records")
    seconds = sum(batch["durationMs"]["triggerExecution"] for batch in progress[-1]) / 1000
    size = records * statistics.mean(len(json_record(number)) for number in range(0, bench.records, 1_000))
    return Run(records / seconds, {FETCHED: answered / size, PROCESSOR_TIME: cpu_s / records * 1_000_000})


def _batches(rows: DataFrame) -> list[Mapping[str, Any]]:
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = rows.writeStream.format("noop").option("checkpointLocation", str(Path(checkpoint, "query")))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return [batch for batch in query.recentProgress if batch["numInputRows"]]


def _spark_rows(bench: Bench, topic: str, start: Sequence[int], limit: int | None, *, is_typed: bool) -> DataFrame:
    from pyspark.sql.functions import col, from_json

    source = bench.spark.readStream.format("kafka").option("kafka.bootstrap.servers", bench.servers)
    source = source.option("subscribe", topic).option(
        "startingOffsets", json.dumps({topic: {str(number): offset for number, offset in enumerate(start)}})
    )
    if limit is not None:
        source = source.option("maxOffsetsPerTrigger", limit)
    values = source.load().select("value")
    if not is_typed:
        return values
    return values.select(from_json(col("value").cast("string"), SCHEMA).alias("row")).select("row.*")


def _millrace_rows(bench: Bench, topic: str, start: Sequence[int], limit: int | None, *, is_typed: bool) -> DataFrame:
    offsets = ";".join(f"partition:{number},offset:{offset}" for number, offset in enumerate(start))
    source = bench.spark.readStream.format("millrace").option("properties.bootstrap.servers", bench.servers)
    source = source.option("topic", topic).option("scan.startup.mode", "specific-offsets")
    source = source.option("scan.startup.specific-offsets", offsets)
    if limit is not None:
        source = source.option("scan.max-records-per-batch", limit)
    return source.option("format", "json").schema(SCHEMA).load() if is_typed else source.schema("value BINARY").load()
