"""The consumer group of a stream, on the real broker."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer
from pyspark.errors import PySparkException, StreamingQueryException

from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.options.secrets import Properties
from millrace.source.enumerator.consumer_group import LEASE_DURATION_S
from support.kafka import produce
from support.waiting import sooner_than, wait_until

CHECKED = {"scan.check.duplicated.group.id": "true", "scan.startup.mode": "earliest-offset"}


@pytest.fixture
def group(request):
    return f"group-of-{request.node.originalname}"


@pytest.fixture
def topic(broker, make_topic):
    name = make_topic(2)
    produce(broker.bootstrap_servers, name, [{"value": b"v"} for _ in range(10)])
    return name


@pytest.fixture
def run(spark, connection, topic, group, tmp_path):
    """Start queries that read the topic with the group; all are stopped after the test."""
    queries = []

    def start(checkpoint="one", **options):
        rows = spark.readStream.format("millrace").options(**connection, topic=topic, **{"properties.group.id": group})
        writer = rows.options(**options).load().writeStream.format("noop")
        query = writer.option("checkpointLocation", str(tmp_path / checkpoint)).start()
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


@pytest.fixture
def member(broker, topic, group):
    """A live member of the group."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "client.id": "somebody",
            "fetch.wait.max.ms": 10,
        }
    )
    consumer.subscribe([topic])
    wait_until(lambda: consumer.poll(0.05) is None and consumer.assignment(), "the member to have joined")
    yield consumer
    consumer.close()


def test_a_stream_does_not_start_while_its_group_has_live_members(run, member, group):
    with pytest.raises(StreamingQueryException) as error:
        run(**CHECKED).processAllAvailable()
    assert f"consumer group '{group}' has 1 live members: somebody at /127.0.0.1. Stop it, give this query" in str(
        error.value
    )


@pytest.mark.nightly
def test_a_batch_does_not_start_while_its_group_has_live_members(spark, connection, member, topic, group):
    options = {"properties.group.id": group, **CHECKED}
    with pytest.raises(PySparkException, match=f"consumer group '{group}' has 1 live members: somebody"):
        spark.read.format("millrace").options(**connection, topic=topic, **options).load().count()


def test_a_stream_does_not_start_while_another_one_uses_its_group(run, group, topic, broker):
    unchecked = run(**{"scan.startup.mode": "earliest-offset"})
    cluster = KafkaAdmin(Properties({"bootstrap.servers": broker.bootstrap_servers, "group.id": group}))
    wait_until(lambda: cluster.committed([TopicPartition(topic, 0)]), "the stream's first commit")
    with pytest.raises(StreamingQueryException, match=f"consumer group '{group}' is used by another query of millrace"):
        run("another", **CHECKED).processAllAvailable()

    unchecked.stop()

    with sooner_than(LEASE_DURATION_S, "waiting until the lease of a stream that was killed ends"):
        wait_until(lambda: starts(run("another", **CHECKED)), "the stopped stream to have given its group free")


def starts(query):
    try:
        query.processAllAvailable()
    except StreamingQueryException:
        return False
    return True


@pytest.mark.nightly
def test_two_streams_that_both_check_do_not_share_a_group(run, group):
    run(**CHECKED).processAllAvailable()
    with pytest.raises(StreamingQueryException, match=f"consumer group '{group}' is used by another query of millrace"):
        run("another", **CHECKED).processAllAvailable()


def test_a_stream_does_not_take_itself_for_another_when_it_starts_again(run):
    for _ in range(2):
        query = run(**CHECKED)
        query.processAllAvailable()
        query.stop()


@pytest.mark.nightly
def test_other_groups_and_other_queries_do_not_matter(run, spark, connection, topic, group):
    run(**CHECKED).processAllAvailable()
    options = {"properties.group.id": f"{group}-2", **CHECKED}
    assert spark.read.format("millrace").options(**connection, topic=topic, **options).load().count() == 10
