"""Reads without a schema, whose columns the schema registry has."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException

from millrace.errors import OptionsError, SchemaError
from millrace_catalog import KafkaJsonCatalog
from millrace_cli.root import root

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


@pytest.mark.nightly
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
    assert f"the schema registry has no schema with columns for subject '{topic}-value': write" in str(caught.value)


@pytest.mark.parametrize("format_name", FORMATS)
def test_the_catalog_and_its_commands_show_what_the_registry_has(
    spark: Any, broker: Any, registry: Any, topic: str, format_name: str
) -> None:
    write(spark, options(broker, registry, format_name, topic), [(7, "a")], "id BIGINT, name STRING")
    given = {"format": format_name, f"{format_name}.url": registry.url.replace("http://", "http://ann:hush@")}
    servers = broker.bootstrap_servers
    table = KafkaJsonCatalog.from_options({"properties.bootstrap.servers": servers, **given}).table(topic)
    assert [tuple(row[:2]) for row in table.read(spark).collect()] == [(7, "a")]

    def run(*arguments: str) -> str:
        named = [part for pair in given.items() for part in ("--option", "=".join(pair))]
        done = CliRunner().invoke(root, [*arguments, topic, "--bootstrap-servers", servers, *named])
        assert done.exit_code == 0, done.output
        assert "hush" not in done.output
        return done.stdout

    described = run("schema").splitlines()
    assert described[2].split(None, 3) == ["id", "BIGINT", "value", "the schema registry"]
    assert described[-1] == "the columns of values are those of the latest schema in the schema registry"
    assert run("schema", "--spark").startswith("`id` BIGINT, `name` STRING, ")
    assert f"'format' = '{format_name}'" in run("schema", "--ddl")
    assert [line.split()[:2] for line in run("peek").splitlines()] == [["id", "name"], ["7", "a"]]


def test_a_topic_without_a_schema_is_no_table(broker: Any, registry: Any, topic: str) -> None:
    given = {"properties.bootstrap.servers": broker.bootstrap_servers, "format": "json-confluent"}
    catalog = KafkaJsonCatalog.from_options({**given, "json-confluent.url": registry.url})
    with pytest.raises(SchemaError, match=f"has no schema with columns for subject '{topic}-value'"):
        catalog.table(topic)
    with pytest.raises(OptionsError, match=r"option 'json-confluent.url' is required"):
        KafkaJsonCatalog.from_options(given)
