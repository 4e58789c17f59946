"""Batch writes through Spark to the real broker."""

from __future__ import annotations

import csv
import json
import re
import time

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME
from pyspark.errors import AnalysisException, PySparkException

from support.cases import CASES
from support.kafka import consume, produce
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


def test_a_list_of_topics_is_written_by_the_column_that_chooses(spark, connection, broker, make_topic):
    topics = [make_topic(2), make_topic(), make_topic()]
    rows = spark.range(3_000).selectExpr(
        "id", f"element_at(array('{topics[0]}', '{topics[1]}'), int(id % 2) + 1) AS target"
    )
    options = {"topic": ";".join(topics), "format": "json", "metadata.columns": "topic AS target"}

    rows.coalesce(1).write.format("millrace").options(**connection, **options).mode("append").save()

    even, odd, none = (consume(broker.bootstrap_servers, topic) for topic in topics)
    assert sorted(message.value() for message in even) == sorted(b'{"id":%d}' % n for n in range(0, 3_000, 2))
    assert [message.value() for message in odd] == [b'{"id":%d}' % n for n in range(1, 3_000, 2)]
    assert none == []


def test_topics_that_match_a_pattern_are_written_by_the_column_that_chooses(spark, connection, broker, make_topic):
    topics = [make_topic(), make_topic()]
    rows = spark.createDataFrame([(topics[n % 2], str(n)) for n in range(10)], "topic STRING, value STRING")
    pattern = rf"\Q{topics[0]}\E|\Q{topics[1]}\E"

    rows.coalesce(1).write.format("millrace").options(**connection, **{"topic-pattern": pattern}).mode("append").save()

    for index, topic in enumerate(topics):
        values = [message.value() for message in consume(broker.bootstrap_servers, topic)]
        assert values == [str(n).encode() for n in range(10) if n % 2 == index]


@pytest.mark.parametrize(("by_pattern", "named"), [(False, "NULL"), (True, "'elsewhere'")], ids=["null", "no-match"])
def test_a_row_that_names_no_permitted_topic_fails_the_write(spark, connection, broker, make_topic, by_pattern, named):
    topics = [make_topic(), make_topic()]
    given = {"topic-pattern": f"({'|'.join(topics)})"} if by_pattern else {"topic": ";".join(topics)}
    rows = spark.sql(f"SELECT '{topics[0]}' AS target, 1 AS id UNION ALL SELECT {named}, 2").coalesce(1)
    options = {**given, "format": "json", "metadata.columns": "topic AS target"}

    with pytest.raises(PySparkException) as error:
        rows.write.format("millrace").options(**connection, **options).mode("append").save()

    text = str(error.value)
    problem = "a row has no topic" if named == "NULL" else "a row cannot go to topic 'elsewhere'"
    permitted = f"topics that match '{given['topic-pattern']}'" if by_pattern else f"'{topics[0]}', '{topics[1]}'"
    assert all(part in text for part in (problem, "its column 'target'", permitted)), text
    assert consume(broker.bootstrap_servers, topics[1]) == []


def test_a_topic_that_matches_but_does_not_exist_fails_the_write(spark, connection, make_topic):
    topic = make_topic()
    rows = spark.createDataFrame([(f"{topic}-2", "v")], "topic STRING, value STRING")

    with pytest.raises(PySparkException, match=f"looking up topic '{topic}-2' failed"):
        rows.write.format("millrace").options(**connection, **{"topic-pattern": f"{topic}.*"}).mode("append").save()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"topic": "{topic};{topic}-2"}, "no topic '{topic}-2' at"),
        ({"topic-pattern": "{topic}-2.*"}, "no topic matches '{topic}-2.*'"),
        ({"subscribePattern": "{topic}.*", "metadata.columns": "timestamp AS t"}, "names column 't' (timestamp)"),
    ],
    ids=["list", "pattern", "column"],
)
def test_what_cannot_be_written_is_refused_before_a_task_starts(spark, connection, make_topic, options, told):
    topic = make_topic()
    rows = spark.sql(f"SELECT '{topic}' AS topic, 'v' AS value, string(raise_error('a task has started')) AS key")
    given = {name: value.format(topic=topic) for name, value in options.items()}

    with pytest.raises(AnalysisException, match=re.escape(told.format(topic=topic))):
        rows.write.format("millrace").options(**connection, **given).mode("append").save()


def test_metadata_is_written_beside_the_columns_of_a_format(spark, connection, broker, make_topic):
    topic = make_topic(3)
    rows = spark.sql(
        "SELECT 1 AS id, TIMESTAMP '2024-05-06 07:08:09.123456Z' AS event_time, CAST('k' AS BINARY) AS k, 2 AS p, "
        "map('b', CAST('1' AS BINARY), 'a', NULL) AS h, 'x' AS topic"
    )
    metadata = "timestamp AS event_time, __raw_key__ AS k, partition AS p, headers AS h"

    write(rows, connection, topic=topic, format="json", metadata_columns=metadata)

    (message,) = consume(broker.bootstrap_servers, topic)
    assert (message.value(), message.key(), message.partition()) == (b'{"id":1,"topic":"x"}', b"k", 2)
    assert message.timestamp() == (TIMESTAMP_CREATE_TIME, 1_714_979_289_123)
    assert message.headers() == [("b", b"1"), ("a", None)]


def test_null_metadata_is_not_set(spark, connection, broker, make_topic):
    topic = make_topic()
    rows = spark.sql(
        "SELECT 1 AS id, CAST(NULL AS TIMESTAMP) AS t, CAST(NULL AS BINARY) AS k, CAST(NULL AS INT) AS p, "
        "CAST(NULL AS MAP<STRING, BINARY>) AS h"
    )
    metadata = "timestamp AS t, __raw_key__ AS k, partition AS p, headers AS h"
    started_ms = time.time() * 1000

    write(rows, connection, topic=topic, format="json", metadata_columns=metadata)

    (message,) = consume(broker.bootstrap_servers, topic)
    assert (message.value(), message.key(), message.headers()) == (b'{"id":1}', None, None)
    assert started_ms - 1 <= message.timestamp()[1] <= time.time() * 1000


def test_a_raw_value_is_written_as_it_is_and_null_is_a_tombstone(spark, connection, broker, make_topic):
    topic = make_topic()
    rows = spark.createDataFrame([("a", b"not json"), ("b", None), ("c", b"")], "k STRING, v BINARY").coalesce(1)
    metadata = "__raw_key__ AS k, __raw_value__ AS v"

    write(rows, connection, topic=topic, format="json", metadata_columns=metadata)

    messages = consume(broker.bootstrap_servers, topic)
    assert [(message.key(), message.value()) for message in messages] == [
        (b"a", b"not json"),
        (b"b", None),
        (b"c", b""),
    ]


def test_a_header_list_keeps_order_repeats_nulls_and_empty_values(spark, connection, broker, make_topic):
    topic = make_topic()
    headers = [("b", b"1"), ("a", None), ("b", b""), ("b", b"1")]
    rows = spark.createDataFrame(
        [(1, headers), (2, None), (3, [])], "id INT, l ARRAY<STRUCT<key: STRING, value: BINARY>>"
    ).coalesce(1)

    write(rows, connection, topic=topic, format="json", metadata_columns="header-list AS l")

    messages = consume(broker.bootstrap_servers, topic)
    assert [message.value() for message in messages] == [b'{"id":1}', b'{"id":2}', b'{"id":3}']
    assert [message.headers() for message in messages] == [headers, None, None]


def test_without_a_format_timestamps_are_written_as_dates_or_as_milliseconds(spark, connection, broker, make_topic):
    topic = make_topic()
    at = "TIMESTAMP '2024-05-06 07:08:09.123Z'"

    write(spark.sql(f"SELECT 'a' AS value, {at} AS timestamp"), connection, topic=topic)
    write(spark.sql("SELECT 'b' AS value, 1714979289123 AS timestamp"), connection, topic=topic)

    messages = consume(broker.bootstrap_servers, topic)
    assert [(message.value(), message.timestamp()[1]) for message in messages] == [
        (b"a", 1_714_979_289_123),
        (b"b", 1_714_979_289_123),
    ]


def test_a_timestamp_that_the_client_would_take_for_now_fails_the_write(spark, connection, broker, make_topic):
    topic = make_topic()
    # What the check is for: the client takes 0 for no timestamp
    produce(broker.bootstrap_servers, topic, [{"value": b"v", "timestamp": 0}])
    (message,) = consume(broker.bootstrap_servers, topic)
    assert message.timestamp()[1] > 1_700_000_000_000

    rows = spark.sql("SELECT 'v' AS value, TIMESTAMP '1970-01-01 00:00:00Z' AS timestamp")
    with pytest.raises(PySparkException, match=r"column 'timestamp' has the timestamp 0 \(ms since 1970 UTC\)"):
        write(rows, connection, topic=topic)
    assert len(consume(broker.bootstrap_servers, topic)) == 1


def test_a_timestamp_that_the_brokers_refuse_fails_its_write_and_no_other(spark, connection, broker, make_topic):
    topic = make_topic(config={"message.timestamp.after.max.ms": "3600000"})
    far = spark.sql("SELECT 'v' AS value, TIMESTAMP '2999-01-01 00:00:00Z' AS timestamp")

    with pytest.raises(PySparkException, match=r"1 of 1 records .*timestamp"):
        write(far, connection, topic=topic)
    write(spark.sql("SELECT 'next' AS value"), connection, topic=topic)

    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"next"]


def test_a_topic_is_copied_with_all_that_can_be_set(spark, connection, broker, make_topic):
    source, target = make_topic(2), make_topic(2)
    written = [
        {"value": b"a", "key": b"k", "partition": 0, "headers": [("h", b"1"), ("h", None)], "timestamp": 1_000},
        {"value": None, "key": b"", "partition": 0, "timestamp": 2_000},
        {"value": b"", "key": None, "partition": 1, "headers": [("h", b"")], "timestamp": 3_000},
    ]
    produce(broker.bootstrap_servers, source, written)
    rows = spark.read.format("millrace").options(**connection, topic=source, includeHeaders="true").load()

    write(rows.drop("topic", "offset", "timestampType"), connection, topic=target)

    def content(topic):
        return [
            (message.partition(), message.key(), message.value(), message.headers(), message.timestamp())
            for message in consume(broker.bootstrap_servers, topic)
        ]

    assert content(target) == content(source)
    assert len(content(target)) == 3


def test_a_partition_column_of_any_name_is_named_when_it_is_out_of_range(spark, connection, make_topic):
    topic = make_topic(3)
    rows = spark.sql("SELECT 3 AS p, 1 AS id")

    with pytest.raises(
        PySparkException, match=f"column 'p' gave partition 3 of topic '{topic}', which has partitions 0 to 2"
    ):
        write(rows, connection, topic=topic, format="json", metadata_columns="partition AS p")


def test_a_partition_column_wins_over_the_partitioner(spark, connection, broker, make_topic):
    topic = make_topic(3)
    rows = spark.createDataFrame([(n % 3, str(n)) for n in range(9)], "partition INT, value STRING")

    write(rows, connection, topic=topic, sink_partitioner="fixed")

    for message in consume(broker.bootstrap_servers, topic):
        assert int(message.value()) % 3 == message.partition()


@pytest.mark.cases
def test_keyed_records_go_where_java_puts_them(spark, connection, broker, make_topic):
    with (CASES / "partitioner" / "murmur2_vectors.csv").open(newline="") as lines:
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
    # Each of at most four tasks has five batches
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("acks", "1"), ("acks", "0"), ("retries", "0"), ("max.in.flight.requests.per.connection", "6")],
)
def test_properties_that_exclude_idempotence_write_without_it(
    spark, connection, broker, make_topic, name: str, value: str
) -> None:
    topic = make_topic()

    rows = spark.range(100).selectExpr("CAST(id AS STRING) AS value").coalesce(1)
    write(rows, connection, topic=topic, **{f"properties.{name}": value})

    assert {message.value() for message in consume(broker.bootstrap_servers, topic)} == {b"%d" % n for n in range(100)}


def test_properties_of_java_programs_can_be_pasted(spark, connection, broker, make_topic) -> None:
    topic = make_topic()
    java = "org.apache.kafka.common.serialization.StringSerializer"
    pasted = {
        "properties.key.serializer": java,
        "properties.value.serializer": java,
        "properties.metrics.recording.level": "INFO",
        "properties.compression.zstd.level": "5",
        "properties.compression.type": "zstd",
        "properties.request.timeout.ms": "20000",
        "properties.max.block.ms": "60000",
        "properties.max.request.size": "2000000",
        "properties.fetch.max.bytes": "1500000",
        "properties.key.deserializer": java.replace("Serializer", "Deserializer"),
        "properties.max.poll.records": "17",
        "properties.session.timeout.ms": "10000",
    }

    write(spark.sql("SELECT 'v' AS value"), connection, topic=topic, **pasted)

    read = spark.read.format("millrace").options(**connection, topic=topic, **pasted).load()
    assert [bytes(row.value) for row in read.collect()] == [b"v"]
