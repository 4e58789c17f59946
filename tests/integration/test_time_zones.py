"""Text without a time zone is read in the session's."""

from __future__ import annotations

import pytest

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
