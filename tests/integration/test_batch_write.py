"""Batch writes through Spark to the real broker."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from support.kafka import consume
from support.waiting import wait_until


def write(rows, connection, **options):
    named = {name.replace("_", "."): value for name, value in options.items()}
    rows.write.format("millrace").options(**connection, **named).mode("append").save()


def test_without_a_format_key_value_and_headers_are_written(spark, connection, broker, make_topic):
    topic = make_topic()
    rows = spark.sql(
        "SELECT 'k' AS key, CAST('v' AS BINARY) AS value, "
        "array(struct('a' AS key, CAST('1' AS BINARY) AS value), struct('a' AS key, CAST(NULL AS BINARY) AS value)) "
        "AS headers"
    )

    write(rows, connection, topic=topic)

    (message,) = consume(broker.bootstrap_servers, topic)
    assert (message.key(), message.value()) == (b"k", b"v")
    assert message.headers() == [("a", b"1"), ("a", None)]


def test_null_and_empty_are_kept_apart(spark, connection, broker, make_topic):
    topic = make_topic()
    rows = spark.createDataFrame([("", None), (None, "")], "key STRING, value STRING").coalesce(1)

    write(rows, connection, topic=topic)

    messages = consume(broker.bootstrap_servers, topic)
    assert [(message.key(), message.value()) for message in messages] == [(b"", None), (None, b"")]


def test_a_topic_column_chooses_each_rows_topic(spark, connection, broker, make_topic):
    topics = [make_topic(), make_topic()]
    rows = spark.createDataFrame([(topics[n % 2], str(n)) for n in range(10)], "topic STRING, value STRING")

    write(rows, connection)

    for index, topic in enumerate(topics):
        values = {message.value() for message in consume(broker.bootstrap_servers, topic)}
        assert values == {str(n).encode() for n in range(10) if n % 2 == index}


def test_a_partition_column_wins_over_the_partitioner(spark, connection, broker, make_topic):
    topic = make_topic(3)
    rows = spark.createDataFrame([(n % 3, str(n)) for n in range(9)], "partition INT, value STRING")

    write(rows, connection, topic=topic, sink_partitioner="fixed")

    for message in consume(broker.bootstrap_servers, topic):
        assert int(message.value()) % 3 == message.partition()


def test_keyed_records_go_where_java_puts_them(spark, connection, broker, make_topic):
    vectors = Path(__file__).parents[3] / "shared/cases/partitioner/murmur2_vectors.csv"
    if not vectors.exists():
        pytest.skip(f"no vectors at {vectors}")
    with vectors.open(newline="") as lines:
        hashes = {row["key"]: int(row["murmur2_int32"]) for row in csv.DictReader(lines)}
    topic = make_topic(7)

    write(spark.createDataFrame([(key, key) for key in hashes], "key STRING, value STRING"), connection, topic=topic)

    messages = consume(broker.bootstrap_servers, topic)
    assert {message.key().decode(): message.partition() for message in messages} == {
        key: (hashed & 0x7FFFFFFF) % 7 for key, hashed in hashes.items()
    }


def test_records_without_a_key_are_spread(spark, connection, broker, make_topic):
    topic = make_topic(4)

    write(spark.range(100_000).selectExpr("repeat('x', 200) AS value"), connection, topic=topic)

    messages = consume(broker.bootstrap_servers, topic)
    assert len(messages) == 100_000
    assert {message.partition() for message in messages} == {0, 1, 2, 3}


def test_the_fixed_partitioner_writes_each_task_to_one_partition(spark, connection, broker, make_topic):
    topic = make_topic(3)
    rows = spark.range(3_000).repartition(3).selectExpr("CAST(spark_partition_id() AS STRING) AS value")

    write(rows, connection, topic=topic, sink_partitioner="fixed")

    for message in consume(broker.bootstrap_servers, topic):
        assert int(message.value()) % 3 == message.partition()


def test_the_round_robin_partitioner_fills_partitions_evenly(spark, connection, broker, make_topic):
    topic = make_topic(4)
    rows = spark.range(4_000).coalesce(1).selectExpr("CAST(id AS STRING) AS value")

    write(rows, connection, topic=topic, sink_partitioner="round-robin")

    partitions = [message.partition() for message in consume(broker.bootstrap_servers, topic)]
    assert [partitions.count(partition) for partition in range(4)] == [1_000] * 4


@pytest.mark.parametrize("guarantee", ["none", "at-least-once"])
def test_json_rows_are_written_whatever_the_guarantee(spark, connection, broker, make_topic, guarantee):
    topic = make_topic(2)
    rows = spark.range(20_000).selectExpr("id", "concat('user-', id) AS name", "id % 2 = 0 AS even")

    options = {"topic": topic, "format": "json", "sink.delivery-guarantee": guarantee}
    rows.write.format("millrace").options(**connection, **options).mode("append").save()

    wait_until(lambda: len(consume(broker.bootstrap_servers, topic)) == 20_000, "all rows to be in the topic")
    values = sorted(
        (json.loads(message.value()) for message in consume(broker.bootstrap_servers, topic)), key=lambda v: v["id"]
    )
    assert values[3] == {"id": 3, "name": "user-3", "even": False}
    assert [value["id"] for value in values] == list(range(20_000))
