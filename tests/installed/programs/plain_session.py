"""Run jobs in a session of plain PySpark, and print what each has returned, or its error, as a line of JSON.

The argument is an object: the brokers, the topics of the jobs by their names, a folder, and the jar of a JDBC driver.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

import millrace
from millrace_catalog import JdbcSink, KafkaJsonCatalog, replicate, restart_on_schema_change

GIVEN: dict[str, Any] = json.loads(sys.argv[1])
KAFKA = {"properties.bootstrap.servers": GIVEN["servers"]}
COLUMNS = "id BIGINT, country STRING, amount DOUBLE"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
EARLIEST = {"scan.startup.mode": "earliest-offset"}


def copy_orders(spark: SparkSession) -> list[int]:
    """Write orders, and copy the large ones from topic to topic."""
    rows = spark.createDataFrame([(1, "de", 60.0), (2, "fr", 120.0), (3, "it", 180.0)], COLUMNS)
    write(rows, topic=GIVEN["orders"])
    large = stream(spark, GIVEN["orders"]).where("amount > 100")
    run(large.writeStream.format("millrace").options(**KAFKA, format="json", topic=GIVEN["copied"]), "copied")
    copied = spark.read.format("millrace").options(**KAFKA, format="json", topic=GIVEN["copied"])
    return sorted(row.id for row in copied.schema(COLUMNS).load().collect())


def divide_by_key(spark: SparkSession) -> None:
    """Write the orders into an upsert table, divided by their keys."""
    divided = millrace.repartition_by_key(stream(spark, GIVEN["orders"]), "id", tasks=2)
    table = {"connector": "upsert-kafka", "key.format": "json", "key.fields": "id", "value.format": "json"}
    run(divided.writeStream.format("millrace").options(**KAFKA, **table, topic=GIVEN["upserted"]), "upserted")


def follow_schema(spark: SparkSession) -> dict[str, Any]:
    """Restart a query on messages with a field more."""
    produce(GIVEN["evolving"], {"id": 1})
    before = catalog().table(GIVEN["evolving"])
    produce(GIVEN["evolving"], {"id": 2, "note": "new"})
    rows: list[Any] = []

    def start(read: DataFrame, _: Any) -> Any:
        def take(batch: DataFrame, number: int) -> None:
            rows[:] = sorted([row.id, row.asDict().get("note")] for row in batch.collect())

        return prepared(read.writeStream.foreachBatch(take), "evolving").start()

    location = f"{GIVEN['folder']}/evolving"
    query = restart_on_schema_change(before, start, spark=spark, checkpoint_location=location, options=EARLIEST)
    query.await_termination()
    return {"restarts": query.restarts, "rows": rows}


def replicate_into_database(spark: SparkSession) -> None:
    """Copy a topic into a table of a database."""
    query = replicate(
        catalog().table(GIVEN["orders"]),
        JdbcSink(GIVEN["database"], "orders"),
        spark=spark,
        checkpoint_location=f"{GIVEN['folder']}/replicated",
        trigger={"availableNow": True},
    )
    query.await_termination()


def keep_state(spark: SparkSession) -> None:
    """Let Spark keep the state of an upsert table, for which it needs an extra."""
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS_DB)
    orders = stream(spark, GIVEN["orders"]).selectExpr("'+I' AS row_kind", "*")
    millrace.normalize_upserts(orders, "id")


JOBS: list[Callable[[SparkSession], Any]] = [
    copy_orders,
    divide_by_key,
    follow_schema,
    replicate_into_database,
    keep_state,
]


def main() -> None:
    """Run all jobs."""
    builder = SparkSession.builder.appName("plain").master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.jars", GIVEN["driver"]).config("spark.sql.shuffle.partitions", "2").getOrCreate()
    for job in JOBS:
        try:
            outcome = {"result": job(spark)}
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"job": job.__name__, **outcome}), flush=True)
    spark.stop()


def catalog() -> KafkaJsonCatalog:
    """Return the broker's topics as tables."""
    return KafkaJsonCatalog.from_options(KAFKA)


def produce(topic: str, row: dict[str, Any]) -> None:
    """Write a message with a plain client."""
    producer = Producer({"bootstrap.servers": GIVEN["servers"]})
    producer.produce(topic, json.dumps(row))
    producer.flush()


def write(rows: DataFrame, topic: str) -> None:
    """Write rows as a batch."""
    rows.write.format("millrace").options(**KAFKA, format="json", topic=topic).mode("append").save()


def stream(spark: SparkSession, topic: str) -> DataFrame:
    """Read a topic of orders as a stream."""
    options = {**KAFKA, **EARLIEST, "format": "json", "topic": topic}
    return spark.readStream.format("millrace").options(**options).schema(COLUMNS).load()


def prepared(writer: Any, name: str) -> Any:
    """Return a writer that ends where the topic does."""
    return writer.option("checkpointLocation", f"{GIVEN['folder']}/{name}").trigger(availableNow=True)


def run(writer: Any, name: str) -> None:
    """Run a query to its end."""
    prepared(writer, name).start().awaitTermination()


main()
