"""Topics that a write creates, on the real broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException

from millrace.kafka.write_admin import WriteAdmin
from millrace.options.secrets import Properties
from support.admin import admin_of, delete_topics, topic_names
from support.kafka import consume
from support.names import unique_name
from support.retrying import retried_all
from support.waiting import PATIENCE_S

CREATE = {"sink.topic.create": "true"}


@pytest.fixture
def new_topics(broker) -> Iterator[list[str]]:
    """Names of three topics that do not exist; they are deleted after the test."""
    names = [unique_name("created", number) for number in range(3)]
    yield names
    left = existing(broker.bootstrap_servers, names)
    if left:
        delete_topics(broker.bootstrap_servers, left)


def existing(servers: str, names: list[str]) -> list[str]:
    known = topic_names(servers)
    return [name for name in names if name in known]


def copies(servers: str, topic: str) -> list[int]:
    """Count the replicas of each partition of a topic."""
    admin = admin_of(servers)
    (described,) = retried_all(lambda: admin.describe_topics(TopicCollection([topic])))
    return [len(partition.replicas) for partition in described.partitions]


def write(rows, connection, **options):
    rows.write.format("millrace").options(**connection, **options).mode("append").save()


def test_a_topic_is_created_as_the_brokers_say(spark, connection, broker, new_topics):
    topic = new_topics[0]

    write(spark.sql("SELECT 'v' AS value"), connection, topic=topic, **CREATE)

    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"v"]
    assert copies(broker.bootstrap_servers, topic) == [1]


def test_a_topic_is_created_with_the_partitions_and_copies_that_are_given(spark, connection, broker, new_topics):
    topic = new_topics[0]
    numbers = {"sink.topic.create.partitions": "5", "sink.topic.create.replication-factor": "1"}

    write(
        spark.range(100).selectExpr("string(id) AS key", "'v' AS value"), connection, topic=topic, **CREATE, **numbers
    )

    messages = consume(broker.bootstrap_servers, topic)
    assert len(messages) == 100
    assert {message.partition() for message in messages} == {0, 1, 2, 3, 4}
    assert copies(broker.bootstrap_servers, topic) == [1] * 5


def test_what_is_missing_of_several_topics_is_created_and_the_others_stay(
    spark, connection, broker, make_topic, new_topics
):
    there = make_topic(2)
    topics = [new_topics[0], there, new_topics[1]]
    rows = spark.createDataFrame([(topic, topic) for topic in topics], "topic STRING, value STRING")

    write(rows, connection, topic=";".join(topics), **CREATE, **{"sink.topic.create.partitions": "3"})

    servers = broker.bootstrap_servers
    assert [[message.value().decode() for message in consume(servers, topic)] for topic in topics] == [
        [topic] for topic in topics
    ]
    assert [len(copies(servers, topic)) for topic in topics] == [3, 2, 3]


@pytest.mark.parametrize("given", [{}, {"sink.topic.create": "false"}], ids=["not-given", "false"])
def test_without_the_option_a_misspelled_topic_is_an_error_and_no_new_topic(
    spark, connection, broker, make_topic, given
):
    topic = make_topic()
    misspelled = f"{topic}s"

    with pytest.raises(AnalysisException, match=f"no topic '{misspelled}' at .* Did you mean '{topic}'"):
        write(spark.sql("SELECT 'v' AS value"), connection, topic=misspelled, **given)

    assert existing(broker.bootstrap_servers, [misspelled]) == []


@pytest.mark.nightly
def test_a_topic_that_a_column_names_is_not_created(spark, connection, broker, new_topics):
    permitted, other, _ = new_topics
    rows = spark.createDataFrame([(other, "v")], "topic STRING, value STRING")

    with pytest.raises(
        AnalysisException, match=r"'sink\.topic\.create' requires 'topic', which names the topics to create"
    ):
        write(rows, connection, **CREATE)
    with pytest.raises(
        AnalysisException, match=r"'sink\.topic\.create' requires 'topic', which names the topics to create"
    ):
        write(rows, connection, **CREATE, **{"topic-pattern": "created.*"})

    assert existing(broker.bootstrap_servers, [permitted, other]) == []


@pytest.mark.parametrize("number", ["partitions", "replication-factor"])
def test_numbers_without_the_option_that_creates_are_refused(spark, connection, number):
    with pytest.raises(AnalysisException, match=f"'sink.topic.create.{number}' requires 'sink.topic.create' = 'true'"):
        write(spark.sql("SELECT 'v' AS value"), connection, topic="orders", **{f"sink.topic.create.{number}": "3"})


@pytest.mark.nightly
def test_a_topic_that_was_deleted_is_created_by_the_next_write(spark, connection, broker, new_topics):
    topic = new_topics[0]
    for value in ("first", "second"):
        write(spark.sql(f"SELECT '{value}' AS value"), connection, topic=topic, **CREATE)
        assert [message.value().decode() for message in consume(broker.bootstrap_servers, topic)] == [value]
        delete_topics(broker.bootstrap_servers, [topic])


def test_a_stream_creates_its_topic(spark, connection, broker, make_topic, new_topics, tmp_path):
    source, target = make_topic(), new_topics[0]
    write(spark.range(50).selectExpr("string(id) AS value"), connection, topic=source)
    rows = spark.readStream.format("millrace").options(**connection, topic=source)
    query = (
        rows.option("scan.startup.mode", "earliest-offset")
        .load()
        .select("value")
        .writeStream.format("millrace")
        .options(**connection, topic=target, checkpointLocation=str(tmp_path), **CREATE)
        .trigger(availableNow=True)
        .start()
    )
    try:
        assert query.awaitTermination(PATIENCE_S)
    finally:
        query.stop()

    assert len(consume(broker.bootstrap_servers, target)) == 50


def test_copies_that_the_brokers_cannot_make_are_told_before_a_task_starts(spark, connection, broker, new_topics):
    topic = new_topics[0]
    rows = spark.sql("SELECT string(raise_error('a task has started')) AS value")

    with pytest.raises(AnalysisException, match=f"creating topic '{topic}' failed: .*INVALID_REPLICATION_FACTOR"):
        write(rows, connection, topic=topic, **CREATE, **{"sink.topic.create.replication-factor": "3"})

    assert existing(broker.bootstrap_servers, [topic]) == []


def test_a_topic_that_somebody_else_creates_at_the_same_moment_is_used(broker, new_topics):
    topic = new_topics[0]

    class LateClient(AdminClient):
        """A client before which another one creates the topic."""

        def create_topics(self, *args, **kwargs):
            broker.create_topic(topic, 2)
            return super().create_topics(*args, **kwargs)

    servers = Properties({"bootstrap.servers": broker.bootstrap_servers})
    WriteAdmin(servers, create_client=LateClient).create_missing([topic], 5)

    assert copies(broker.bootstrap_servers, topic) == [1, 1]
