"""TIME(p) has p digits of fraction, whatever messages have."""

from __future__ import annotations

import pytest

from support.kafka import produce

FINE = "12:34:56.987654"


@pytest.fixture
def with_time(spark):
    spark.conf.set("spark.sql.timeType.enabled", "true")
    yield
    spark.conf.unset("spark.sql.timeType.enabled")


@pytest.mark.usefixtures("with_time")
@pytest.mark.parametrize(
    ("format_", "value", "schema", "columns"),
    [
        ("json", f'{{"a": "{FINE}", "m": {{"x": "{FINE}"}}}}', "m MAP<STRING, TIME(0)>", ["a", "m['x']"]),
        ("csv", f"{FINE},{FINE};{FINE}", "l ARRAY<TIME(0)>", ["a", "l[1]"]),
    ],
)
def test_times_have_the_digits_of_their_type(spark, broker, connection, make_topic, format_, value, schema, columns):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"key": f'{{"k": "{FINE}"}}'.encode(), "value": value.encode()}])

    rows = spark.read.format("millrace").schema(f"k TIME(1), a TIME(3), {schema}").options(**connection, topic=topic)
    rows = rows.options(**{"value.format": format_, "key.format": "json", "key.fields": "k"})
    found = rows.option("value.fields-include", "EXCEPT_KEY").load()

    # Equality sees all digits, where text shows those of the type
    expected = {"k": "12:34:56.9", columns[0]: "12:34:56.987", columns[1]: "12:34:56"}
    # The oldest PySpark compares times of the same precision only
    equal = [f"CAST({column} AS TIME(6)) = TIME'{text}'" for column, text in expected.items()]
    assert list(found.selectExpr(*equal).collect()[0]) == [True, True, True]
