"""Batch reads through Spark from the real broker."""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from pyspark.errors import PythonException

from support.families import Family
from support.kafka import commit_offsets, produce, transactional_producer, wait_for_markers
from support.retrying import flush, retried
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "read_until.py"
EARLY = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def read(spark, connection, **options):
    named = {name.replace("__", "-").replace("_", "."): value for name, value in options.items() if name != "schema"}
    reader = spark.read.format("millrace").options(**connection, **named)
    return (reader.schema(options["schema"]) if "schema" in options else reader).load()


def test_without_a_format_rows_have_the_columns_of_sparks_own_connector(spark, connection, broker, make_topic):
    topic = make_topic()
    produce(
        broker.bootstrap_servers,
        topic,
        [{"key": b"k", "value": b"v", "timestamp": int(EARLY.timestamp() * 1000)}, {"key": None, "value": None}],
    )

    rows = read(spark, connection, topic=topic).orderBy("offset").collect()

    assert rows[0].asDict() == {
        "key": bytearray(b"k"),
        "value": bytearray(b"v"),
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "timestamp": EARLY.replace(tzinfo=None),
        "timestampType": 0,
    }
    assert (rows[1].key, rows[1].value, rows[1].offset) == (None, None, 1)


def test_headers_come_in_order_with_repeats_when_asked_for(spark, connection, broker, make_topic):
    topic = make_topic()
    headers = [("a", b"1"), ("b", None), ("a", b"2")]
    produce(broker.bootstrap_servers, topic, [{"value": b"v", "headers": headers}, {"value": b"w"}])

    rows = read(spark, connection, topic=topic, includeHeaders="true").orderBy("offset").collect()

    assert [(header.key, header.value) for header in rows[0].headers] == headers
    assert rows[1].headers is None


def test_any_choice_of_the_columns_can_be_asked_for_by_a_schema(spark, connection, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])

    assert read(spark, connection, topic=topic, schema="offset BIGINT, value BINARY").collect() == [
        (0, bytearray(b"v"))
    ]


def test_every_record_of_several_topics_and_partitions_is_read_once(spark, connection, broker, make_topic):
    topics = [make_topic(3), make_topic(2)]
    for index, topic in enumerate(topics):
        produce(broker.bootstrap_servers, topic, [{"value": f"{index}-{number}".encode()} for number in range(25_000)])

    values = read(spark, connection, topic=";".join(topics), schema="value BINARY").selectExpr("string(value) v")

    assert values.count() == 50_000
    assert values.distinct().count() == 50_000


def test_an_empty_topic_gives_no_rows(spark, connection, make_topic):
    assert read(spark, connection, topic=make_topic(3)).collect() == []


def test_latest_offset_starts_behind_everything(spark, connection, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
    options = {"topic": topic, "scan.startup.mode": "latest-offset", "scan.bounded.mode": "latest-offset"}

    assert spark.read.format("millrace").options(**connection, **options).load().collect() == []


@pytest.mark.parametrize("aborted_last", [False, True])
def test_aborted_records_and_transaction_markers_are_no_rows(spark, connection, broker, make_topic, aborted_last):
    topic = make_topic()
    producer = transactional_producer(broker.bootstrap_servers, topic)
    expected = []
    for number in range(6):
        producer.begin_transaction()
        for item in range(10):
            producer.produce(topic, f"{number}-{item}".encode())
        # An abort drops what has not been sent, and a broker refuses to abort a transaction that it has never seen
        flush(producer)
        if number % 2 == int(aborted_last):
            retried(producer.abort_transaction)
        else:
            retried(producer.commit_transaction)
            expected += [f"{number}-{item}" for item in range(10)]
    wait_for_markers(broker.bootstrap_servers, topic)

    rows = read(spark, connection, topic=topic, schema="offset BIGINT, value BINARY").orderBy("offset").collect()

    assert [bytes(row.value).decode() for row in rows] == expected


def test_reading_uncommitted_shows_the_records_of_aborted_transactions(spark, connection, broker, make_topic):
    topic = make_topic()
    producer = transactional_producer(broker.bootstrap_servers, topic)
    producer.begin_transaction()
    producer.produce(topic, b"aborted")
    flush(producer)
    retried(producer.abort_transaction)
    wait_for_markers(broker.bootstrap_servers, topic)

    options = {"properties.isolation.level": "read_uncommitted", "topic": topic}
    rows = spark.read.format("millrace").options(**connection, **options).load().collect()

    assert [bytes(row.value) for row in rows] == [b"aborted"]


def test_records_that_were_compacted_away_leave_no_gap_to_wait_for(spark, connection, broker, make_topic):
    compacting = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"}
    topic = make_topic(1, {**compacting, "max.compaction.lag.ms": "100", "segment.bytes": "1048576"})
    produce(broker.bootstrap_servers, topic, [{"key": b"k", "value": f"{n}".encode()} for n in range(1_000)])

    rows = read(spark, connection, topic=topic).collect()

    assert [bytes(row.value) for row in rows][-1] == b"999"


def test_records_are_kept_by_their_headers(spark, connection, broker, make_topic):
    topic = make_topic(2)
    produce(
        broker.bootstrap_servers,
        topic,
        [
            {"value": b"toy", "headers": [("depart", b"toy")]},
            {"value": b"book", "headers": [("depart", b"book"), ("env", b"prod")]},
            {"value": b"test", "headers": [("depart", b"book"), ("env", b"test")]},
            {"value": b"none"},
        ],
    )
    options = {"topic": topic, "scan.header-filter": "depart:toy|depart:book&!env:test"}

    rows = spark.read.format("millrace").options(**connection, **options).load().collect()

    assert sorted(bytes(row.value) for row in rows) == [b"book", b"toy"]


def test_large_messages_are_read_in_batches_of_bounded_size(spark, connection, broker, make_topic):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": bytes([n]) * 500_000} for n in range(60)])

    rows = read(spark, connection, topic=topic, schema="value BINARY").selectExpr("length(value) n").collect()

    assert [row.n for row in rows] == [500_000] * 60


@pytest.fixture
def timed(broker, make_topic) -> str:
    """A topic with the records 0 to 9 in each of two partitions, a second apart."""
    topic = make_topic(2)
    records = [
        {"value": str(n).encode(), "timestamp": 1_000_000 + 1_000 * n, "partition": partition}
        for n in range(10)
        for partition in range(2)
    ]
    produce(broker.bootstrap_servers, topic, records)
    return topic


def numbers(rows, partition: int) -> list[int]:
    return [int(row.value) for row in rows.where(f"partition = {partition}").orderBy("offset").collect()]


def test_reading_from_one_time_to_another(spark, connection, timed):
    times = {"scan.startup.timestamp-millis": "1002500", "scan.bounded.timestamp-millis": "1006000"}
    modes = {"scan.startup.mode": "timestamp", "scan.bounded.mode": "timestamp"}

    rows = spark.read.format("millrace").options(**connection, topic=timed, **modes, **times).load()

    assert numbers(rows, 0) == numbers(rows, 1) == [3, 4, 5]


def test_reading_from_specific_offsets_to_others(spark, connection, timed):
    options = {
        "scan.startup.mode": "specific-offsets",
        "scan.startup.specific-offsets": "partition:0,offset:2;partition:1,offset:8",
        "scan.bounded.mode": "specific-offsets",
        "scan.bounded.specific-offsets": f"topic:{timed},partition:0,offset:4;partition:1,offset:10",
    }

    rows = spark.read.format("millrace").options(**connection, topic=timed, **options).load()

    assert numbers(rows, 0) == [2, 3]
    assert numbers(rows, 1) == [8, 9]


def test_a_batch_waits_for_its_last_records_and_says_so(connection, broker, make_topic, tmp_path):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"1"}] * 20)
    bounded = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:30"}
    given = json.dumps({**connection, "topic": topic, **bounded})
    command = [sys.executable, str(PROGRAM), given]
    waiting = f"waiting for the records of {topic}-0 up to offset 30"

    with Family(command, tmp_path / "first") as interrupted, Family(command, tmp_path / "second") as patient:
        for program in (interrupted, patient):
            wait_until(lambda program=program: waiting in program.console.read_text(), "its words")
        os.kill(interrupted.pid, signal.SIGINT)
        wait_until(lambda: not interrupted.processes(), "an interrupted program to end, with all its processes")

        assert "its log ends at 20" in patient.console.read_text()
        assert patient.is_running()
        produce(broker.bootstrap_servers, topic, [{"value": b"1"}] * 20)
        # Spark may have the last word, about a worker that it has ended
        assert "30" in patient.result().splitlines()


def test_reading_from_where_a_group_is(spark, connection, broker, timed):
    commit_offsets(broker.bootstrap_servers, timed, [TopicPartition(timed, 0, 7)])
    group = {"properties.group.id": timed, "properties.auto.offset.reset": "earliest"}

    rows = spark.read.format("millrace").options(**connection, topic=timed, **group).load()

    assert numbers(rows, 0) == [7, 8, 9]
    assert numbers(rows, 1) == list(range(10))


def test_topics_are_chosen_by_a_pattern_of_their_whole_name(spark, connection, broker, make_topic):
    topics = [make_topic(), make_topic()]
    for topic in topics:
        produce(broker.bootstrap_servers, topic, [{"value": topic.encode()}])
    pattern = f"({topics[0]}|{topics[1][:-1]})"

    rows = spark.read.format("millrace").options(**connection, **{"topic-pattern": pattern}).load().collect()

    assert [row.topic for row in rows] == [topics[0]]


def test_single_partitions_can_be_read(spark, connection, timed):
    rows = spark.read.format("millrace").options(**connection, **{"topic-partitions": f"{timed}:1"}).load()

    assert numbers(rows, 0) == []
    assert numbers(rows, 1) == list(range(10))


def test_metadata_stands_beside_the_columns_of_a_format(spark, connection, broker, make_topic):
    topic = make_topic()
    written = {"value": b'{"id": 1}', "key": b"k", "headers": [("a", b"1")], "timestamp": 1_000}
    produce(broker.bootstrap_servers, topic, [{"value": b""}, written])
    metadata = (
        "timestamp AS event_time, offset, timestamp-type AS kind, headers, leader-epoch AS epoch, __raw_key__ AS k"
    )
    columns = (
        "kind STRING, id INT, event_time TIMESTAMP, offset BIGINT, headers MAP<STRING, BINARY>, epoch INT, k BINARY"
    )
    options = {"topic": topic, "format": "json", "metadata.columns": metadata}

    (row,) = spark.read.format("millrace").schema(columns).options(**connection, **options).load().collect()

    assert (row.id, row.offset, row.kind, row.headers, row.k) == (
        1,
        1,
        "CreateTime",
        {"a": bytearray(b"1")},
        bytearray(b"k"),
    )
    assert (row.event_time, row.epoch) == (datetime(1970, 1, 1, 0, 0, 1), 0)


def test_metadata_has_the_types_that_are_declared_for_it(spark, connection, broker, make_topic):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"key": b"first", "value": b'{"id":1}'}])
    metadata = "offset, partition AS part, __raw_key__ AS k, timestamp AS ms, topic"
    options = {**connection, "topic": topic, "format": "json", "metadata.columns": metadata}
    declared = "offset INT NOT NULL, part BIGINT NOT NULL, k STRING, ms BIGINT"

    by_schema = spark.read.format("millrace").options(**options).schema(f"id BIGINT, {declared}, topic STRING").load()
    by_option = spark.read.format("millrace").options(**options, columns=f"id BIGINT, {declared}").load()
    given = ", ".join(f"`{name}` '{value}'" for name, value in options.items())
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW declared USING millrace OPTIONS ({given}, columns 'id BIGINT, *')")

    (row,) = by_schema.collect()
    assert row[:4] == (1, 0, 0, "first")
    assert row.ms > 1_000_000_000_000
    assert by_option.collect() == [row]
    assert by_option.dtypes == by_schema.dtypes
    assert [name for name, _ in spark.table("declared").dtypes] == ["id", "offset", "part", "k", "ms", "topic"]


def test_metadata_is_added_to_the_columns_that_a_read_has_anyway(spark, connection, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
    options = {"topic": topic, "format": "raw", "metadata.columns": "topic, partition AS number"}

    rows = spark.read.format("millrace").options(**connection, **options).load().collect()

    assert [row.asDict() for row in rows] == [{"value": bytearray(b"v"), "topic": topic, "number": 0}]


def test_metadata_tells_who_set_the_timestamp_and_keeps_headers_in_order(spark, connection, broker, make_topic):
    topic = make_topic(config={"message.timestamp.type": "LogAppendTime"})
    headers = [("a", b"1"), ("b", None), ("a", b"2")]
    produce(broker.bootstrap_servers, topic, [{"value": b"v", "headers": headers, "timestamp": 1_000}])
    options = {
        "topic": topic,
        "format": "raw",
        "metadata.columns": "timestamp-type, header-list, headers, __raw_value__",
    }

    (row,) = spark.read.format("millrace").options(**connection, **options).load().collect()

    assert row["timestamp-type"] == "LogAppendTime"
    assert [(header.key, header.value and bytes(header.value)) for header in row["header-list"]] == headers
    assert (row.headers, row["__raw_value__"]) == ({"a": bytearray(b"2"), "b": None}, bytearray(b"v"))


def test_times_that_sparks_to_json_writes_are_refused_with_the_option_that_reads_them(spark, connection, make_topic):
    topic = make_topic()
    rows = spark.sql("SELECT TIMESTAMP '2026-01-02 03:04:05.678' AS at")
    written = rows.selectExpr("to_json(struct(at)) AS value").write.format("millrace").options(**connection)
    written.option("topic", topic).mode("append").save()
    declared = {"topic": topic, "format": "json", "schema": "at TIMESTAMP"}

    with pytest.raises(PythonException, match=r"'json\.timestamp-format\.standard' = 'ISO-8601'"):
        read(spark, connection, **declared).collect()

    advised = {"json.timestamp-format.standard": "ISO-8601"}
    assert read(spark, {**connection, **advised}, **declared).collect() == rows.collect()
