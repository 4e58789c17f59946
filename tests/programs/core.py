"""Use the data source in a session of its own; the argument says where, as JSON.

The results go to a file as JSON, each under the name of the function that they come from.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import millrace
from millrace import DeliveryGuarantee, KafkaOffsetsInitializer, KafkaRecordSerializationSchema, KafkaSink, KafkaSource
from millrace.api.source import KafkaSourceBuilder

given = json.loads(sys.argv[1])
connection = {"properties.bootstrap.servers": given["servers"]}


def session() -> SparkSession:
    builder = SparkSession.builder
    builder = builder.remote(given["remote"]) if "remote" in given else builder.master(given["master"])
    for name, value in given.get("config", {}).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def load(topic: str, schema: str | None = None, **options: str) -> DataFrame:
    reader = spark.read.format("millrace").options(**connection, topic=topic, **options)
    return (reader.schema(schema) if schema else reader).load()


def write(rows: DataFrame, topic: str) -> None:
    target = rows.write.format("millrace").options(**connection, topic=topic, format="json")
    target.mode("append").save()


def kafka_columns() -> list[list[Any]]:
    rows = load(given["orders"]).selectExpr("string(value)", "partition", "offset", "timestampType")
    return [list(row) for row in rows.collect()]


def filtered_json_with_metadata() -> list[list[Any]]:
    options = {"format": "json", "metadata.columns": "partition, offset AS place", "scan.header-filter": "env:live"}
    rows = load(given["orders"], "id BIGINT, name STRING, partition INT, place BIGINT", **options)
    return [list(row) for row in rows.collect()]


def written_and_read_back() -> list[list[Any]]:
    write(spark.range(1_000).selectExpr("id", "concat('n', id) AS name"), given["copies"])
    rows = load(given["copies"], "id BIGINT, name STRING", format="json")
    return [list(row) for row in rows.selectExpr("count(*)", "count(DISTINCT id)", "max(name)").collect()]


def ids_of_each_stream() -> list[list[int]]:
    """Return the rows in files after two runs with one checkpoint, and after one from the consumer group."""
    seen = []
    for first, checkpoint in [(0, "one"), (100, "one"), (200, "two")]:
        write(spark.range(first, first + 100), given["streamed"])
        files = str(Path(given["folder"]) / f"files-{checkpoint}")
        query = (
            spark.readStream.format("millrace")
            .options(**connection, topic=given["streamed"], format="json")
            .options(**{"properties.group.id": given["streamed"], "properties.auto.offset.reset": "earliest"})
            .option("scan.max-records-per-batch", "60")
            .schema("id BIGINT")
            .load()
            .writeStream.format("parquet")
            .options(path=files, checkpointLocation=str(Path(given["folder"]) / checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(240)
        seen.append(sorted(row.id for row in spark.read.parquet(files).collect()))
    return seen


def copied_exactly_once_by_builders() -> list[list[int]]:
    def source(topic: str) -> KafkaSourceBuilder:
        builder = KafkaSource.builder().set_bootstrap_servers(given["servers"])
        return builder.set_topics(topic).set_deserializer("json")

    target = KafkaRecordSerializationSchema.builder().set_topic(given["built"]).set_value_serialization_schema("json")
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(given["servers"])
        .set_record_serializer(target.build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(given["built"])
        .build()
    )
    stream = source(given["copies"]).build().load(spark, "id BIGINT")
    checkpoint = str(Path(given["folder"]) / "built")
    assert sink.start(stream, checkpoint_location=checkpoint, trigger={"availableNow": True}).awaitTermination(240)
    rows = source(given["built"]).set_bounded(KafkaOffsetsInitializer.latest()).build().load(spark, "id BIGINT")
    return [list(row) for row in rows.selectExpr("count(*)", "count(DISTINCT id)").collect()]


def metrics_of_a_stream() -> dict[str, Any]:
    """Return a stream's metrics once its counts have arrived, from the call and from a listener."""
    # Counts are told with the progress after their micro-batch: that of an idle query comes every 10 seconds by default
    spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", "100")
    heard: list[dict[str, Any]] = []
    listener = millrace.MetricsListener(lambda _, source: heard.append(source.to_dict()))
    spark.streams.addListener(listener)
    rows = spark.readStream.format("millrace").options(**connection, topic=given["orders"])
    query = (
        rows.options(**{"scan.startup.mode": "earliest-offset", "scan.header-filter": "env:live"})
        .load()
        .writeStream.format("noop")
        .option("checkpointLocation", str(Path(given["folder"]) / "metrics"))
        .start()
    )
    found: dict[str, Any] = {}
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and not (found.get("numRecordsIn") and heard):
        time.sleep(0.1)
        found = next((source.to_dict() for source in millrace.metrics(query).sources), {})
    # The listener stays: a Connect session that removes one waits for ever if an event comes meanwhile
    query.stop()
    return {"found": found, "heard": heard[0] if heard else None}


def read_with_a_distributed_file() -> int:
    """Count the rows of a read whose client is given a file by its name alone; every process must find it."""
    name = given.get("file")
    return load(given["copies"], **({"properties.ssl.ca.location": name} if name else {})).count()


def malformed_message() -> str:
    try:
        load(given["malformed"], "id BIGINT", format="json").collect()
    except PySparkException as error:
        return str(error)
    return "no error"


def readers() -> list[dict[str, Any]]:
    """Return each read task's rows, and its JVM's process id, command and addresses."""

    def describe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(batch.num_rows for batch in batches)
        java = next(parent for parent in psutil.Process(os.getpid()).parents() if parent.name() == "java")
        listening = {at.laddr.ip for at in java.net_connections("inet") if at.status == psutil.CONN_LISTEN}
        told = {"rows": rows, "pid": java.pid, "command": " ".join(java.cmdline()), "addresses": sorted(listening)}
        yield pa.RecordBatch.from_pylist([told])

    read = load(given["copies"], **{"scan.parallelism": "8"})
    found = read.select("value").mapInArrow(
        describe, "rows BIGINT, pid BIGINT, command STRING, addresses ARRAY<STRING>"
    )
    return [row.asDict() for row in found.collect()]


spark = session()
# Exactly-once asks for it
spark.conf.set("spark.sql.adaptive.streaming.stateless.enabled", "false")
parts = [
    kafka_columns,
    filtered_json_with_metadata,
    written_and_read_back,
    ids_of_each_stream,
    copied_exactly_once_by_builders,
    metrics_of_a_stream,
    read_with_a_distributed_file,
    malformed_message,
    readers,
]
Path(given["results"]).write_text(json.dumps({part.__name__: part() for part in parts}))
spark.stop()
