"""Reads without a schema, whose columns the schema registry has."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

FORMATS = ["avro-confluent", "protobuf-confluent", "json-confluent"]
COLUMNS = "id BIGINT, name STRING, scores ARRAY<DOUBLE>"


@pytest.fixture
def topic(make_topic: Any) -> str:
    name: str = make_topic()
    return name


def options(broker: Any, registry: Any, format_name: str, topic: str) -> dict[str, str]:
    return {
        "properties.bootstrap.servers": broker.bootstrap_servers,
        "topic": topic,
        "format": format_name,
        f"{format_name}.url": registry.url,
    }


def write(spark: Any, given: dict[str, str], rows: list[Any], columns: str) -> None:
    spark.createDataFrame(rows, columns).write.format("millrace").options(**given).mode("append").save()


def read(spark: Any, given: dict[str, str]) -> Any:
    return spark.read.format("millrace").options(**given).load()


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_read_has_the_columns_of_the_latest_schema(
    spark: Any, broker: Any, registry: Any, topic: str, format_name: str
) -> None:
    given = options(broker, registry, format_name, topic)
    write(spark, given, [(1, "a")], "id BIGINT, name STRING")
    assert read(spark, given).dtypes == [("id", "bigint"), ("name", "string")]
    write(spark, given, [(2, "b", [0.5, 1.0])], COLUMNS)
    found = read(spark, given)
    assert found.dtypes == [("id", "bigint"), ("name", "string"), ("scores", "array<double>")]
    assert sorted(found.collect()) == [(1, "a", None), (2, "b", [0.5, 1.0])]
    # under a subject of its own, whatever the topic
    subject = {**given, f"{format_name}.subject": f"{topic}-value", "topic": topic}
    assert read(spark, subject).columns == found.columns


def test_topics_whose_columns_contradict_are_named(spark: Any, broker: Any, registry: Any, make_topic: Any) -> None:
    topics = sorted([make_topic(), make_topic()])
    one, other = (options(broker, registry, "avro-confluent", topic) for topic in topics)
    write(spark, one, [(1, "a")], "id BIGINT, name STRING")
    write(spark, other, [("x", 2.0)], "id STRING, weight DOUBLE")
    both = {**one, "topic": ";".join(topics)}
    with pytest.raises(PySparkException) as caught:
        read(spark, both).columns  # noqa: B018 - analyses the read
    assert f"column id is string in topic '{topics[1]}', but int64 in topic '{topics[0]}'" in str(caught.value)


def test_a_subject_without_a_schema_needs_columns(spark: Any, broker: Any, registry: Any, topic: str) -> None:
    given = options(broker, registry, "avro-confluent", topic)
    write(spark, {**given, "avro-confluent.subject": f"{topic}-elsewhere"}, [(1,)], "id BIGINT")
    with pytest.raises(PySparkException) as caught:
        read(spark, given).columns  # noqa: B018 - analyses the read
    assert "format 'avro-confluent' needs to know the columns" in str(caught.value)
