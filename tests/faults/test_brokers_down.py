"""Checks and streams while brokers are down, or a leader lacks records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest
from confluent_kafka.admin import AdminClient
from pyspark.errors import StreamingQueryException

from millrace.contracts import TopicPartition
from millrace.errors import UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import CONSUMERS
from millrace.kafka.write_admin import WriteAdmin
from millrace.options.secrets import Properties
from millrace.worker import RESOURCES
from millrace_broker import KafkaCluster
from support.kafka import QUICK_BROKER, produce, transactional_producer
from support.retrying import retried
from support.waiting import wait_until

TOPIC = "numbers"
UNCLEAN = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
COORDINATING = ("__consumer_offsets", "__transaction_state")


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaCluster]:
    one_copy = {"offsets.topic.replication.factor": "1", "transaction.state.log.replication.factor": "1"}
    with KafkaCluster(brokers=3, java_options=QUICK_BROKER, properties=one_copy) as running:
        yield running
    RESOURCES.drop(CONSUMERS)


@pytest.fixture
def client(cluster) -> Properties:
    return Properties({"bootstrap.servers": cluster.bootstrap_servers})


def lacks_a_leader(client: Properties, topic: str) -> bool:
    try:
        KafkaAdmin(client).leaders(topic)
    except UnreachableError as error:
        wanted = (f"{topic!r} has no leader in partition ", "Check that all brokers are running")
        return all(text in str(error) for text in wanted)
    return False


def test_groups_are_all_listed_or_none(cluster, client):
    cluster.create_topic("any")
    names = {f"group-{number}" for number in range(8)}
    for name in names:
        admin = KafkaAdmin(Properties({**client, "group.id": name}))
        retried(lambda admin=admin: admin.commit({TopicPartition("any", 0): 1}))
    assert set(WriteAdmin(client).groups()) == names
    transactional_producer(cluster.bootstrap_servers, "any")
    for topic in COORDINATING:
        assert len(set(KafkaAdmin(client).leaders(topic))) == 3

    down = cluster.brokers[1]
    down.kill()
    try:
        with pytest.raises(UnreachableError) as error:
            WriteAdmin(client).groups()
        for topic in COORDINATING:
            wait_until(partial(lacks_a_leader, client, topic), "the broker to lead no more")
    finally:
        down.start()
    assert "when looking up consumer groups" in str(error.value)
    wait_until(lambda: WriteAdmin(client).groups().keys() == names, "all groups")


def test_a_log_that_was_truncated_and_has_grown_again_is_noticed(cluster, saved):
    cluster.create_topic(TOPIC, 1, UNCLEAN, replication=2)
    servers = cluster.bootstrap_servers
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})

    def partition():
        return admin.list_topics(TOPIC, 10).topics[TOPIC].partitions[0]

    def write(numbers):
        produce(servers, TOPIC, [{"value": str(number).encode(), "partition": 0} for number in numbers])

    write(range(10))
    leader, follower = partition().replicas
    wait_until(lambda: sorted(partition().isrs) == sorted([leader, follower]), "both copies")
    cluster.brokers[follower - 1].stop()
    wait_until(lambda: partition().isrs == [leader], "one copy")
    write(range(10, 20))
    query = saved.start(servers, TOPIC)
    query.processAllAvailable()
    query.stop()
    assert saved.numbers() == Counter(range(20))

    cluster.brokers[leader - 1].kill()
    cluster.brokers[follower - 1].start()
    wait_until(lambda: partition().leader == follower, "the broker that lacks records to lead")
    write(range(100, 120))
    lost = (
        f"{TOPIC}-0 had been read up to 20 when its log was truncated from offset 10 on, and the log now holds 0 to 29"
    )
    with pytest.raises(StreamingQueryException, match=lost):
        saved.start(servers, TOPIC).processAllAvailable()

    query = saved.start(servers, TOPIC, **{"scan.fail-on-data-loss": "false"})
    query.processAllAvailable()
    assert saved.numbers() == Counter([*range(20), *range(100, 120)])
    # The broker whose records are gone
    cluster.brokers[leader - 1].start()
