"""Run queries with state over topics, by Spark's own Kafka connector or by millrace, until they have read all there is.

A program, since the jars of Spark's connector must be there when the session starts. Its arguments are the brokers and
the jars, separated by commas. Each line of standard input is an object of JSON: ``query`` (see `QUERIES`),
``connector``, ``topics``, ``checkpoint``, ``out`` (a folder of JSON), and ``conf`` with settings of the session. It
writes a line when such a query has ended, with its error if it has failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, expr, from_json, window
from pyspark.sql.functions import sum as total

import millrace

SCHEMA = "id BIGINT, kind STRING, amount BIGINT, at TIMESTAMP"


def windows(orders: DataFrame) -> DataFrame:
    """Sum up amounts in windows of ten seconds."""
    grouped = orders.withWatermark("at", "5 minutes").groupBy(window("at", "10 seconds"), "kind")
    sums = grouped.agg(total("amount").alias("amount"), count("*").alias("orders"))
    return sums.select(col("window.start").cast("string").alias("start"), "kind", "amount", "orders")


def deduplication(orders: DataFrame) -> DataFrame:
    """Keep the first order of each id."""
    return orders.withWatermark("at", "1 hour").dropDuplicates(["id"]).select("id")


def join(orders: DataFrame, payments: DataFrame) -> DataFrame:
    """Join orders with their payments."""
    left = orders.withWatermark("at", "1 hour").alias("o")
    right = payments.withWatermark("at", "1 hour").alias("p")
    matching = expr("o.id = p.id AND p.at BETWEEN o.at AND o.at + INTERVAL 1 HOUR")
    return left.join(right, matching).select("o.id", "o.amount", col("p.amount").alias("paid"))


QUERIES: dict[str, Callable[..., DataFrame]] = {"windows": windows, "deduplication": deduplication, "join": join}


def source(session: SparkSession, servers: str, connector: str, topic: str) -> DataFrame:
    """Read a topic as a stream, a few records with each micro-batch."""
    reader = session.readStream.format(connector).option("kafka.bootstrap.servers", servers)
    reader = reader.option("subscribe", topic).option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", 150)
    rows = reader.load().select(from_json(col("value").cast("string"), SCHEMA).alias("row"))
    return rows.select("row.*")


def run(session: SparkSession, servers: str, given: dict[str, Any]) -> None:
    """Run a query until it has read all there is."""
    for name, value in given["conf"].items():
        session.conf.set(name, value)
    rows = QUERIES[given["query"]](*(source(session, servers, given["connector"], each) for each in given["topics"]))
    writer = rows.writeStream.format("json").option("path", given["out"])
    writer.option("checkpointLocation", given["checkpoint"]).trigger(availableNow=True).start().awaitTermination()


def main() -> None:
    """Run the queries."""
    servers, jars = sys.argv[1:]
    conf = {"spark.log.level": "OFF", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
    session = millrace.local_session("state", cores=2, config={**conf, "spark.jars": jars})
    for line in sys.stdin:
        try:
            run(session.newSession(), servers, json.loads(line))
            print("ended", flush=True)
        except PySparkException as error:
            print(json.dumps(str(error)), flush=True)
    session.stop()


if __name__ == "__main__":
    main()
