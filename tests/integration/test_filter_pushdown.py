"""Filters on metadata columns become offsets: batch reads from the real broker, by Spark and as its workers do."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from click.testing import CliRunner
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

import millrace
from millrace.failures import explain_failure
from millrace_cli.commands.plan import plan as plan_command
from millrace_sql import TableEnvironment
from pyspark_millrace import DefaultSource
from support.kafka import produce
from support.pushed_filters import passes

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PUSHED = {"scan.filter-pushdown": "true"}
KNOWN = {"scan.filter-pushdown.max-disorder": "8 s", "scan.filter-pushdown.key-partitioner": "default"}
ENABLED = "spark.sql.python.filterPushdown.enabled"
PARTITION, OFFSET, TIMESTAMP, KEY = ("partition",), ("offset",), ("timestamp",), ("key",)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


@pytest.fixture(scope="module")
def topic(broker):
    """A topic of 3 partitions with 600 records, a second apart, whose timestamps go back by up to 8 seconds."""
    from support.admin import delete_topics
    from support.names import unique_name

    name = unique_name("pushed")
    broker.create_topic(name, 3)
    disorder = [0, -5, 3, 0, -2]
    times = [int(at(number + disorder[number % 5]).timestamp() * 1000) for number in range(600)]
    records = [{"key": b"%d" % (number % 7), "value": b"v", "timestamp": time} for number, time in enumerate(times)]
    produce(broker.bootstrap_servers, name, records)
    yield name
    delete_topics(broker.bootstrap_servers, [name])


@pytest.fixture
def read(connection):
    """Read the records that remain with some filters, as Spark's workers do; and return the filters that remain."""

    def rows(topic: str, filters: list, **options: str) -> tuple[list[dict[str, Any]], tuple]:
        source = DefaultSource({**connection, "topic": topic, **options})
        reader = source.reader(source.schema())
        remaining = tuple(reader.pushFilters(filters)) if filters else ()
        batches = (batch for partition in reader.partitions() for batch in reader.read(partition))
        return [row for batch in batches for row in batch.to_pylist()], remaining

    return rows


def in_order(rows: list[dict[str, Any]]) -> list[tuple]:
    return sorted((row["partition"], row["offset"], row["timestamp"], row["key"]) for row in rows)


@pytest.mark.parametrize(
    ("filters", "most"),
    [
        ([EqualTo(PARTITION, 1), IsNotNull(PARTITION)], 400),
        ([Not(EqualTo(PARTITION, 1)), GreaterThanOrEqual(OFFSET, 20)], 560),
        ([In(PARTITION, (0, 2)), In(OFFSET, (5, 6, 7, 40))], 72),
        ([EqualTo(PARTITION, 9)], 0),
        ([LessThan(OFFSET, 5)], 15),
        ([GreaterThanOrEqual(TIMESTAMP, at(590))], 20),
        ([GreaterThan(TIMESTAMP, at(100.0005)), LessThanOrEqual(TIMESTAMP, at(120))], 45),
        ([In(TIMESTAMP, (at(300), at(317)))], 45),
        ([EqualTo(KEY, b"3")], 400),
        ([EqualTo(KEY, b"3"), GreaterThanOrEqual(OFFSET, 150)], 250),
        ([EqualNullSafe(PARTITION, 2), IsNull(TIMESTAMP)], 400),
    ],
    ids=lambda value: " and ".join(map(repr, value)) if isinstance(value, list) else None,
)
def test_fewer_records_are_read_and_rows_are_those_of_a_read_of_all(read, topic, filters, most):
    everything, _ = read(topic, [])
    some, remaining = read(topic, filters, **PUSHED, **KNOWN)

    assert len(everything) == 600
    assert len(some) <= most
    expected = [row for row in everything if passes(row, filters)]
    assert in_order([row for row in some if passes(row, remaining)]) == in_order(expected)


@pytest.mark.nightly
def test_the_last_minute_of_a_topic_is_read_in_a_fraction_of_the_time(connection, broker, make_topic):
    """A million records, 10 ms apart: of the last minute are 6,000."""
    long = make_topic(4)
    begin = int(BEGIN.timestamp() * 1000)
    records = ({"value": b"x" * 100, "timestamp": begin + 10 * number} for number in range(1_000_000))
    produce(broker.bootstrap_servers, long, records)
    minute = [GreaterThanOrEqual(TIMESTAMP, at(10_000 - 60))]

    def timed(filters: list, **options: str) -> tuple[int, float]:
        began = time.monotonic()
        source = DefaultSource({**connection, "topic": long, **options})
        reader = source.reader(source.schema())
        if filters:
            list(reader.pushFilters(filters))
        rows = sum(batch.num_rows for partition in reader.partitions() for batch in reader.read(partition))
        return rows, time.monotonic() - began

    # The first read loads modules and opens connections
    timed(minute, **PUSHED)
    few, seconds = timed(minute, **PUSHED)
    everything, all_seconds = timed([])
    assert (few, everything) == (6_000, 1_000_000)
    assert seconds < all_seconds / 10


def test_an_upper_bound_is_of_use_where_the_disorder_of_timestamps_is_known(read, topic):
    early = [LessThan(TIMESTAMP, at(10))]

    assert len(read(topic, early, **PUSHED)[0]) == 600
    assert len(read(topic, early, **PUSHED, **KNOWN)[0]) <= 30
    # A column of BIGINT can be compared with times that brokers cannot be asked for
    assert len(read(topic, [LessThanOrEqual(TIMESTAMP, 2**63 - 1)], **PUSHED, **KNOWN)[0]) == 600
    for never in (GreaterThanOrEqual(TIMESTAMP, 2**63 - 1), GreaterThan(TIMESTAMP, 2**63 - 1)):
        assert read(topic, [never], **PUSHED)[0] == []


def test_a_plan_shows_what_is_pushed(connection, topic):
    filters = [EqualTo(PARTITION, 1), GreaterThanOrEqual(OFFSET, 3)]
    options = {**connection, "topic": topic}

    plan = millrace.plan({**options, **PUSHED}, filters=filters)
    (read,) = plan.reads
    assert [(offsets.partition, offsets.start) for offsets in read.ranges] == [(1, 3)]
    assert "reads offsets by the filters partition in (1) and offset >= 3" in str(plan)

    assert "filters do not change what is read without option 'scan.filter-pushdown'" in str(
        millrace.plan(options, filters=filters, count_limit=0)
    )
    stop = "partition:0,offset:1;partition:1,offset:99999;partition:2,offset:1"
    later = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": stop}
    waiting = millrace.plan({**options, **PUSHED, **later}, filters=filters)
    assert "filters change what is read when the batch has waited for its last records" in str(waiting)
    assert [offsets.end for offsets in waiting.reads[0].ranges] == [1, 99_999, 1]

    where = ["--topic", topic, "--option", "scan.filter-pushdown=true", "--where", "partition = 1 AND offset >= 3"]
    servers = ["--bootstrap-servers", str(connection["properties.bootstrap.servers"])]
    assert "filters partition in (1) and offset >= 3" in CliRunner().invoke(plan_command, [*servers, *where]).output


def test_spark_pushes_filters_and_shows_them(spark, connection, topic, capsys):
    # A load for each query: Spark reads all queries over one load as it planned the last one with filters
    reader = spark.read.format("millrace").options(**connection, topic=topic, **PUSHED)
    late = reader.load().where(f"partition < 2 AND timestamp >= TIMESTAMP '{at(590):%Y-%m-%d %H:%M:%S}'")
    every = spark.read.format("millrace").options(**connection, topic=topic).load().collect()

    assert sorted(late.collect()) == sorted(
        row for row in every if row.partition < 2 and row.timestamp >= at(590).replace(tzinfo=None)
    )
    late.explain("formatted")
    assert "LessThan(partition,2)" in capsys.readouterr().out


def test_sql_pushes_filters_by_itself(spark, connection, broker, make_topic):
    half_bad = make_topic(2)
    records = [{"value": b"{oops", "partition": 0}, {"value": b'{"id": 1}', "partition": 1}]
    produce(broker.bootstrap_servers, half_bad, records)
    env = TableEnvironment(spark)
    env.execute_script(f"""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE half_bad (id INT, part INT METADATA FROM 'partition') WITH (
            'connector' = 'kafka', 'topic' = '{half_bad}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json',
            'properties.bootstrap.servers' = '{connection["properties.bootstrap.servers"]}');
    """)

    explained = env.explain_sql("SELECT id FROM half_bad WHERE part = 1 AND id > 0")
    assert explained.endswith("== Filters By Which Fewer Offsets Are Read ==\nhalf_bad: partition in (1)"), explained
    assert "Filters By Which" not in env.explain_sql("SELECT id FROM half_bad WHERE id > 0")

    # The malformed message is not read
    assert list(env.execute_sql("SELECT id FROM half_bad WHERE part = 1").collect()) == [(1,)]
    # Spark may read the table in two places
    with pytest.raises((PySparkException, Py4JJavaError), match="malformed message"):
        list(env.execute_sql("WITH q AS (SELECT * FROM half_bad) SELECT id FROM q WHERE part = 1").collect())


def test_sql_has_the_rows_of_all_places_of_a_table_even_if_filters_are_asked_for(spark, connection, topic):
    env = TableEnvironment(spark)
    env.execute_script(f"""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE twice (v BYTES, part INT METADATA FROM 'partition') WITH (
            'connector' = 'kafka', 'topic' = '{topic}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'raw',
            'scan.filter-pushdown' = 'true',
            'properties.bootstrap.servers' = '{connection["properties.bootstrap.servers"]}');
    """)
    rows = env.execute_sql("""
        WITH q AS (SELECT * FROM twice)
        SELECT part FROM q WHERE part = 0 UNION ALL SELECT part FROM q WHERE part <> 0
    """)
    assert len(list(rows.collect())) == 600


def test_a_session_without_the_setting_is_told_what_to_set(spark, connection, topic):
    spark.conf.set(ENABLED, "false")
    try:
        with pytest.raises(PySparkException) as error:
            spark.read.format("millrace").options(**connection, topic=topic, **PUSHED).load().collect()
    finally:
        spark.conf.set(ENABLED, "true")
    assert "spark.conf.set('spark.sql.python.filterPushdown.enabled', 'true')" in str(explain_failure(error.value))
