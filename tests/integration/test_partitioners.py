"""Partitions of records on the real broker, compared with those of the real Java client."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from support.admin import add_partitions
from support.java_client import java_client
from support.kafka import consume
from support.tiers import nightly_but
from support.waiting import wait_until

KEYS = [
    b"",
    *(bytes(range(97, 97 + length)) for length in range(1, 21)),
    *(bytes(range(255, 255 - length, -1)) for length in range(1, 21)),
    *(text.encode() for text in ("ü", "Schlüssel", "ключ", "鍵", "🔑", "e\u0301", "Straße 🏠 42")),
    *(b"\x00" * length for length in range(1, 6)),
    b"\x80\x81\x82\x83\xff\xfe\x00\x01",
    "cut in a letter: ü".encode()[:-1],
    *(number.to_bytes(8, "big") for number in range(100)),
    b"long " * 20_000,
]


def write(rows, connection, topic, **options):
    rows.write.format("millrace").options(**connection, topic=topic, **options).mode("append").save()


@pytest.fixture(scope="module")
def java(spark, broker):
    with java_client(spark, broker.bootstrap_servers) as client:
        yield client


def rows_of(spark, keys):
    rows = [(None if key is None else bytearray(key), b"by millrace") for key in keys]
    return spark.createDataFrame(rows, "key BINARY, value BINARY").repartition(2)


@pytest.mark.parametrize("partitions", nightly_but([1, 2, 3, 7, 16, 50], 7))
def test_keyed_records_go_where_the_java_client_puts_them(spark, connection, broker, make_topic, java, partitions):
    topic = make_topic(partitions)

    write(rows_of(spark, KEYS), connection, topic)

    found = {message.key(): message.partition() for message in consume(broker.bootstrap_servers, topic)}
    assert found == {key: java.partition_of(key, partitions) for key in KEYS}
    assert len(set(found.values())) > partitions / 2


@pytest.mark.nightly
def test_keys_of_both_producers_share_partitions(spark, connection, broker, make_topic, java):
    topic = make_topic(7)
    java.write(topic, KEYS)

    write(rows_of(spark, KEYS), connection, topic)

    found = {b"by Java": {}, b"by millrace": {}}
    for message in consume(broker.bootstrap_servers, topic):
        found[message.value()][message.key()] = message.partition()
    assert found[b"by millrace"] == found[b"by Java"]
    assert found[b"by Java"].keys() == set(KEYS)


@pytest.mark.nightly
def test_keyed_records_among_records_without_a_key_stay_where_java_puts_them(
    spark, connection, broker, make_topic, java
):
    topic = make_topic(7)

    write(rows_of(spark, [key for each in KEYS for key in (each, None)]), connection, topic)

    messages = consume(broker.bootstrap_servers, topic)
    found = {message.key(): message.partition() for message in messages if message.key() is not None}
    assert found == {key: java.partition_of(key, 7) for key in KEYS}
    assert sum(message.key() is None for message in messages) == len(KEYS)


@pytest.mark.parametrize("ignores_keys", [False, True])
def test_round_robin_deals_out_the_records_without_a_key_and_on_request_all(
    spark, connection, broker, make_topic, java, ignores_keys
):
    topic = make_topic(7)
    rows = rows_of(spark, [key for each in KEYS for key in (None, each)]).coalesce(1)
    options = {"sink.partitioner": "round-robin"} | ({"sink.partitioner.ignore-keys": "true"} if ignores_keys else {})

    write(rows, connection, topic, **options)

    messages = consume(broker.bootstrap_servers, topic)
    keyed = {message.key(): message.partition() for message in messages if message.key() is not None}
    assert (keyed == {key: java.partition_of(key, 7) for key in KEYS}) is not ignores_keys
    dealt = messages if ignores_keys else [message for message in messages if message.key() is None]
    assert len(dealt) == len(KEYS) * (2 if ignores_keys else 1)
    counts = Counter(message.partition() for message in dealt)
    assert set(counts) == set(range(7))
    assert max(counts.values()) - min(counts.values()) <= 1


def test_records_without_a_key_stay_together_and_use_several_partitions(spark, connection, broker, make_topic):
    topic = make_topic(4)
    count = 50_000

    write(spark.range(count).coalesce(1).selectExpr("rpad(string(id), 500, ' ') AS value"), connection, topic)

    messages = consume(broker.bootstrap_servers, topic)
    by_row = [partition for _, partition in sorted((int(message.value()), message.partition()) for message in messages)]
    assert len(by_row) == count
    assert len(set(by_row)) > 1
    changes = sum(before != after for before, after in pairwise(by_row))
    # Three of four would change if each record went its own way
    assert changes < count / 10


@pytest.mark.parametrize(
    ("partitioner", "key"),
    [
        ("default", "string(value)"),
        pytest.param("default", "NULL", marks=pytest.mark.nightly),
        pytest.param("round-robin", "NULL", marks=pytest.mark.nightly),
    ],
)
def test_partitions_added_while_a_stream_writes_are_used(
    spark, connection, broker, make_topic, tmp_path, partitioner, key
):
    topic = make_topic(2)
    rows = spark.readStream.format("rate").option("rowsPerSecond", 200).load()
    query = (
        rows.selectExpr(f"CAST({key} AS STRING) AS key", "rpad(string(value), 500, ' ') AS value")
        .writeStream.format("millrace")
        .options(**connection, topic=topic, checkpointLocation=str(tmp_path))
        .options(**{"sink.partitioner": partitioner, "properties.metadata.max.age.ms": "2000"})
        .start()
    )

    def written() -> set[int]:
        assert query.exception() is None
        return {message.partition() for message in consume(broker.bootstrap_servers, topic)}

    try:
        wait_until(lambda: written() == {0, 1}, "records in both partitions")
        add_partitions(broker.bootstrap_servers, topic, 4)
        # Less than a count holds by default
        wait_until(lambda: written() == {0, 1, 2, 3}, "records in the new partitions")
    finally:
        query.stop()
