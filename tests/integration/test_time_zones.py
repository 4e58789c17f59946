"""Times without a zone: text is read in the session's, and a stream's event time stays as it is."""

from __future__ import annotations

from datetime import datetime

import pytest

from millrace_sql import TableEnvironment
from support.kafka import produce

NOON = "2024-05-01 12:00:00"
SCHEMA = "k TIMESTAMP, a TIMESTAMP, b STRUCT<c: ARRAY<TIMESTAMP>>, d MAP<STRING, TIMESTAMP>, e TIMESTAMP_NTZ"


@pytest.fixture
def in_zone(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    yield lambda zone: spark.conf.set("spark.sql.session.timeZone", zone)
    spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize(("zone", "hours"), [("Europe/Berlin", -2), ("GMT+5", -5), ("UTC", 0)])
def test_text_without_a_zone_is_read_in_that_of_the_session(
    spark, broker, connection, make_topic, in_zone, zone, hours
):
    topic = make_topic()
    value = f'{{"a": "{NOON}", "b": {{"c": ["{NOON}"]}}, "d": {{"x": "{NOON}", "z": "{NOON}Z"}}, "e": "{NOON}"}}'
    produce(broker.bootstrap_servers, topic, [{"key": f'{{"k": "{NOON}"}}'.encode(), "value": value.encode()}])
    in_zone(zone)

    rows = spark.read.format("millrace").schema(SCHEMA).options(**connection, topic=topic)
    rows = rows.options(**{"value.format": "json", "key.format": "json", "key.fields": "k"})
    found = rows.option("value.fields-include", "EXCEPT_KEY").load()

    noon = "timestamp'2024-05-01 12:00:00+00:00'"
    hours_from_noon = [f"timestampdiff(HOUR, {noon}, {c})" for c in ("k", "a", "b.c[0]", "d['x']", "d['z']")]
    (row,) = found.selectExpr(*hours_from_noon, "string(e)").collect()
    assert list(row) == [hours] * 4 + [0, NOON]


@pytest.fixture
def events(spark, broker, make_topic):
    """An environment with a table of two rows in a window, and one that ends it."""
    topic = make_topic(1)
    times = ("10:01", "10:09", "12:00")
    produce(broker.bootstrap_servers, topic, [{"value": f'{{"ts": "2024-03-31 {time}:00"}}'} for time in times])
    env = TableEnvironment(spark)
    env.execute_sql(
        "CREATE TABLE events (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH ("
        f"'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker.bootstrap_servers}', "
        "'scan.startup.mode' = 'earliest-offset', 'format' = 'json')"
    )
    return env


WINDOWS = (
    "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) "
    "GROUP BY window_start, window_end"
)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_windows_of_a_timestamp_begin_at_timestamps(events, zone):
    events.execute_sql(f"SET 'table.local-time-zone' = '{zone}'")
    result = events.execute_sql(WINDOWS)
    assert result.get_table_schema()["window_start"].dataType.simpleString() == "timestamp_ntz"
    with result.collect() as rows:
        assert tuple(next(rows)) == (datetime(2024, 3, 31, 10), 2)
