"""The data source on the oldest and newest brokers that docs/installing.md says it works with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

import millrace
from millrace_broker import KafkaBroker
from support.kafka import committed_offsets, consume

VERSIONS = ("2.8.2", "3.9.2", "4.1.0", "4.2.0")

SCHEMA = "id BIGINT, name STRING"


@pytest.fixture(scope="module", params=VERSIONS)
def broker(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    """A broker of each version, in place of the session's."""
    with KafkaBroker(version=request.param) as running:
        yield running


def ids(broker: KafkaBroker, topic: str) -> list[int]:
    """The ids of a topic's committed records, sorted."""
    return sorted(json.loads(message.value())["id"] for message in consume(broker.bootstrap_servers, topic))


def test_rows_are_written_and_read_back(
    spark: SparkSession, connection: dict[str, Any], broker: KafkaBroker, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(2)
    rows = spark.range(1_000).selectExpr("id", "concat('n', id) AS name").repartition(2)

    rows.write.format("millrace").options(**connection, topic=topic, format="json").mode("append").save()

    assert ids(broker, topic) == list(range(1_000))
    reader = spark.read.format("millrace").options(**connection, topic=topic, format="json")
    later = {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1767323045000"}
    for read in (reader.schema(SCHEMA).load(), reader.load(), reader.schema(SCHEMA).options(**later).load()):
        assert read.selectExpr("count(DISTINCT id)", "max(name)").collect() == [(1_000, "n999")]


def test_a_missing_topic_is_created(
    spark: SparkSession, connection: dict[str, Any], broker: KafkaBroker, make_topic: Callable[..., str]
) -> None:
    topic = make_topic() + "-created"
    created = {"topic": topic, "format": "json", "sink.topic.create": "true", "sink.topic.create.partitions": "3"}

    spark.range(1).write.format("millrace").options(**connection, **created).mode("append").save()

    assert ids(broker, topic) == [0]


def test_a_stream_copies_exactly_once_and_its_group_follows(
    spark: SparkSession,
    connection: dict[str, Any],
    broker: KafkaBroker,
    make_topic: Callable[..., str],
    tmp_path: Path,
) -> None:
    source, target = make_topic(2), make_topic(2)
    group = f"group-of-{source}"
    reading = {"topic": source, "properties.group.id": group, "properties.auto.offset.reset": "earliest"}
    writing = {"topic": target, "sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": target}

    for start in (0, 100):
        rows = spark.range(start, start + 100)
        rows.write.format("millrace").options(**connection, topic=source, format="json").mode("append").save()
        stream = spark.readStream.format("millrace").schema("id BIGINT")
        stream = stream.options(**connection, **reading, format="json")
        writer = stream.load().writeStream.format("millrace").options(**connection, **writing, format="json")
        query = writer.trigger(availableNow=True).option("checkpointLocation", str(tmp_path)).start()
        query.awaitTermination()

        assert ids(broker, target) == list(range(start + 100))

    committed = committed_offsets(
        broker.bootstrap_servers, group, [TopicPartition(source, number) for number in range(2)]
    )
    assert sum(committed) == 200


def test_doctor_compares_clocks_and_knows_a_port_of_zookeeper(broker: KafkaBroker) -> None:
    found = millrace.probe({"properties.bootstrap.servers": broker.bootstrap_servers})
    told = [
        each.message for each in found.findings if each.check == "clock" and each.target == broker.bootstrap_servers
    ]
    assert [each for each in found.problems if each.check not in ("java", "packages", "ports")] == []
    zookeeper = broker.data_dir / "zookeeper.properties"
    if not zookeeper.exists():
        assert told == ["the clock of the brokers' controller and this host's agree within 5 s"]
        return

    assert told != ["the clock of the brokers' controller and this host's agree within 5 s"]
    port = re.search(r"^clientPort=(\d+)$", zookeeper.read_text(), re.MULTILINE)[1]
    wrong = millrace.probe({"properties.bootstrap.servers": f"127.0.0.1:{port}"})
    assert [each.message for each in wrong.problems if each.check == "api"] == [
        "this is ZooKeeper's port, not a broker's"
    ]


def test_the_docs_name_these_versions() -> None:
    page = Path(__file__).parents[2].joinpath("docs/installing.md").read_text()
    section = page.partition("## Supported brokers")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^\| (\d+\.\d+\.\d+) ", section, re.MULTILINE)) == VERSIONS
