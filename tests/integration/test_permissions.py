"""Permissions that a write needs, checked before it on a real broker with access control lists."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from pyspark.errors import AnalysisException

from millrace.checkpoint import StreamOffset
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import ClientError, DataLossError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import new_consumer
from millrace.kafka.write_admin import WriteAdmin
from millrace.options.secrets import Properties
from millrace.source.enumerator.planner import Planner
from millrace.source.enumerator.preflight import check_dead_letter_topics
from millrace.source.reader.fetch import fetch
from millrace.source.reader.fetch_timeouts import FetchTimeouts
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split
from millrace_broker import KafkaBroker, Listener
from millrace_ui.topics.cluster import Cluster
from support.admin import add_permissions, remove_permissions
from support.kafka import QUICK_BROKER, consume, produce
from support.retrying import retried
from support.tiers import nightly_but

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
PASSWORD = "a-password"
READABLE = {"topic": "readable", "format": "raw"}


@pytest.fixture(scope="module")
def guarded() -> Iterator[KafkaBroker]:
    """A broker on which alice may write to all topics, bob look at them, carol read them, dave look at groups alone.

    Frank may look at topics and at the cluster.
    """
    users = " ".join(f'user_{name}="{PASSWORD}"' for name in ("alice", "bob", "carol", "dave", "erin", "frank"))
    login = {"sasl.enabled.mechanisms": "PLAIN", "plain.sasl.jaas.config": f"{PLAIN} required {users};"}
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    listeners = [Listener("OPEN"), Listener("LOGIN", "SASL_PLAINTEXT", config=login)]
    with KafkaBroker(listeners=listeners, properties=properties, java_options=QUICK_BROKER) as broker:
        permissions = [
            permission("alice", AclOperation.WRITE),
            permission("bob", AclOperation.DESCRIBE),
            permission("carol", AclOperation.READ),
            permission("dave", AclOperation.DESCRIBE, ResourceType.GROUP),
            permission("frank", AclOperation.DESCRIBE, ResourceType.BROKER, "kafka-cluster"),
            permission("frank", AclOperation.DESCRIBE),
        ]
        add_permissions(broker.address("OPEN"), permissions)
        yield broker


def permission(
    user: str, operation: AclOperation, of: ResourceType = ResourceType.TOPIC, name: str = "*"
) -> AclBinding:
    return AclBinding(of, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)


def connection_of(user: str, broker: KafkaBroker) -> dict[str, str]:
    return {
        "bootstrap.servers": broker.address("LOGIN"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": PASSWORD,
    }


def target_of(user: str, broker: KafkaBroker) -> WriteAdmin:
    return WriteAdmin(Properties(connection_of(user, broker)))


def test_a_client_that_may_not_create_a_topic_is_told_what_it_needs(guarded):
    alice = target_of("alice", guarded)

    with pytest.raises(ClientError) as error:
        alice.create_missing(["orders"])

    assert str(error.value) == (
        "this client may not create topic 'orders', which does not exist (option 'sink.topic.create'): its user needs "
        "the operation CREATE on it or on the cluster (an ACL). Or let somebody create it who may"
    )
    guarded.create_topic("orders", 2)
    alice.create_missing(["orders"])
    assert target_of("bob", guarded).topics(["orders"])["orders"].partitions == 2


def test_the_list_of_topics_says_what_its_user_may_not_see(guarded):
    guarded.create_topic("listed", 2)
    listed = Cluster(connection_of("frank", guarded)).topics()["topics"]
    (seen,) = [topic for topic in listed if topic["name"] == "listed"]
    assert (seen["partitions"], seen["bytes"], seen["cleanupPolicy"]) == (2, 0, None)
    shown = Cluster(connection_of("bob", guarded)).topics()
    (unseen,) = [topic for topic in shown["topics"] if topic["name"] == "listed"]
    assert (unseen["offsets"], unseen["bytes"]) == (0, None)
    assert shown["bytesUnknown"].endswith(
        "reports no sizes of topics: this client's user needs the operation DESCRIBE on the cluster (an ACL)"
    )


@pytest.mark.parametrize("guarantee", nightly_but(["none", "at-least-once"], "at-least-once"))
def test_a_client_that_may_not_write_is_told_before_a_task_starts(spark, guarded, guarantee):
    topic = f"private-{guarantee}"
    guarded.create_topic(topic)
    options = {f"properties.{name}": value for name, value in connection_of("bob", guarded).items()}
    rows = spark.sql("SELECT string(raise_error('a task has started')) AS value")

    with pytest.raises(AnalysisException) as error:
        rows.write.format("millrace").options(topic=topic, **options, **{"sink.delivery-guarantee": guarantee}).mode(
            "append"
        ).save()

    assert f"this client may not write to topic '{topic}': its user needs the operation WRITE on it (an ACL)" in str(
        error.value
    )
    assert PASSWORD not in str(error.value)
    alice = {f"properties.{name}": value for name, value in connection_of("alice", guarded).items()}
    rows = spark.sql("SELECT 'v' AS value")
    rows.write.format("millrace").options(topic=topic, **alice).mode("append").save()
    assert [message.value() for message in consume(guarded.address("OPEN"), topic)] == [b"v"]


def test_a_client_that_may_not_write_dead_letters_is_told_before_it_reads(guarded):
    guarded.create_topic("dead-letters")
    letters = {"dirty-data.collector": "topic", "dirty-data.collector.topic": "dead-letters"}
    tolerant = {"topic": "orders", "format": "json", "ingestion.ignore-errors": "true", **letters}

    def check(user):
        login = {f"properties.{name}": value for name, value in connection_of(user, guarded).items()}
        check_dead_letter_topics(configure_source({**login, **tolerant}))

    with pytest.raises(ClientError, match="this client may not write to topic 'dead-letters': its user needs the "):
        check("bob")
    check("alice")


def test_permission_on_the_topic_alone_is_enough_to_read(guarded):
    guarded.create_topic("readable")
    produce(guarded.address("OPEN"), "readable", [{"value": b"1"}, {"value": b"2"}])
    config = configure_source({f"properties.{k}": v for k, v in connection_of("carol", guarded).items()} | READABLE)
    consumer = new_consumer(config.client)
    partition = TopicPartition("readable", 0)
    read = []
    try:
        # Long enough for brokers to refuse the coordinator of the consumer's group, which it asks for by itself
        missing = Split((OffsetRange(partition, 0, 3),))
        fetched = fetch(consumer, missing, SplitMetrics(), timeouts=FetchTimeouts(early_end_s=3.0))
        with pytest.raises(DataLossError, match="holds 0 to 1"):
            read.extend(message for messages in fetched for message in messages.items)
    finally:
        consumer.close()

    assert [message.value() for message in read] == [b"1", b"2"]


def test_a_topic_whose_permission_is_made_anew_is_read_on_from_where_it_was(guarded):
    servers, partition = guarded.address("OPEN"), TopicPartition("seen-now-and-then", 0)
    guarded.create_topic(partition.topic)
    login = {f"properties.{name}": value for name, value in connection_of("erin", guarded).items()}
    config = configure_source({**login, "topic-pattern": "seen-.*", "scan.fail-on-data-loss": "false"})
    acl = permission("erin", AclOperation.READ, name=partition.topic)

    def available(offset: StreamOffset) -> StreamOffset:
        """Plan as the next process of the query, which has the offset from its checkpoint."""
        return Planner.connect(config).available(StreamOffset.from_json(offset.to_json()))

    add_permissions(servers, [acl])
    produce(servers, partition.topic, [{"value": b"1"}, {"value": b"2"}])
    read = available(StreamOffset({}))
    assert read.positions == {partition: 2}
    remove_permissions(servers, [acl])
    unseen = available(read)
    assert unseen.positions == {}
    produce(servers, partition.topic, [{"value": b"3"}])
    add_permissions(servers, [acl])

    seen = available(unseen)

    assert (seen.start_overrides, seen.positions) == ({partition: 2}, {partition: 3})


def test_groups_are_listed_without_permission_to_see_which_brokers_coordinate_them(guarded):
    guarded.create_topic("followed")
    everybody = Properties({"bootstrap.servers": guarded.address("OPEN"), "group.id": "seen"})
    retried(lambda: KafkaAdmin(everybody).commit({TopicPartition("followed", 0): 0}))
    assert KafkaAdmin(everybody).leaders("__consumer_offsets")

    target = target_of("dave", guarded)

    assert target.leaders("__consumer_offsets") == []
    assert "seen" in target.groups()
