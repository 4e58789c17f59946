"""Reading the values of a topic as they are: plain, compressed, encrypted, and with metadata beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bench.measure import MILLRACE, SPARK, Bench, Result, SameAnswer, alternate, records_per_second

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITIONS = 4
TARGET = 1.5

_VALUE = ("BINARY", "sum(length(value))")
_METADATA = {
    "topic": ("STRING", "sum(length(topic))"),
    "partition": ("INT", "sum(partition)"),
    "offset": ("BIGINT", "sum(offset)"),
    "timestamp": ("TIMESTAMP", "max(timestamp)"),
    "timestampType": ("INT", "sum(timestampType)"),
}


def run(bench: Bench) -> list[Result]:
    """Measure values only."""
    return [_compare(bench, "raw read, values only", bench.topics.filled(PARTITIONS))]


def run_with_metadata(bench: Bench) -> list[Result]:
    """Measure values with five columns of metadata."""
    topic = bench.topics.filled(PARTITIONS)
    return [_compare(bench, "raw read, values and 5 metadata columns", topic, columns=_METADATA, target=1.2)]


def run_compressed(bench: Bench) -> list[Result]:
    """Measure values of compressed topics."""
    topics = {codec: bench.topics.filled(PARTITIONS, codec) for codec in ("lz4", "zstd")}
    return [_compare(bench, f"raw read, values only, {codec}", topic) for codec, topic in topics.items()]


def run_encrypted(bench: Bench) -> list[Result]:
    """Measure values that are read over TLS."""
    topic = bench.topics.filled(PARTITIONS)
    return [_compare(bench, "raw read, values only, TLS", topic, servers=bench.tls_servers, client=bench.tls_client)]


def _compare(
    bench: Bench,
    work: str,
    topic: str,
    *,
    columns: Mapping[str, tuple[str, str]] | None = None,
    servers: str = "",
    client: Mapping[str, str] | None = None,
    target: float = TARGET,
) -> Result:
    """Measure a read of values and other columns (name to type and an aggregate that needs it) by both connectors."""
    wanted = {"value": _VALUE, **(columns or {})}
    properties = {"bootstrap.servers": servers or bench.servers, **(client or {})}
    own = bench.spark.read.format("kafka").option("subscribe", topic)
    ours = bench.spark.read.format("millrace").option("topic", topic)
    own = own.options(**{f"kafka.{name}": value for name, value in properties.items()})
    ours = ours.options(**{f"properties.{name}": value for name, value in properties.items()})
    schema = ", ".join(f"{name} {kind}" for name, (kind, _) in wanted.items())
    answer = SameAnswer()

    def read(rows: DataFrame) -> None:
        answer.check(rows.selectExpr("count(1)", *(total for _, total in wanted.values())).collect()[0])

    series = alternate(
        bench,
        work,
        {
            SPARK: lambda: records_per_second(bench.records, lambda: read(own.load().select(*wanted))),
            MILLRACE: lambda: records_per_second(bench.records, lambda: read(ours.schema(schema).load())),
        },
    )
    return Result(work, "records/s", series[MILLRACE], series[SPARK], target=target)
