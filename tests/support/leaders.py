"""Leaders of a topic's partitions in a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, PartitionMetadata

from millrace_broker import KafkaCluster
from support.admin import admin_of
from support.kafka import QUICK_BROKER
from support.retrying import retried
from support.waiting import wait_until

TOPIC = "numbers"


@contextmanager
def three_brokers() -> Iterator[KafkaCluster]:
    """A cluster that goes on without one of its brokers, with the topic."""
    with KafkaCluster(brokers=3, java_options=QUICK_BROKER) as running:
        running.create_topic(TOPIC, 2, {"min.insync.replicas": "2"})
        # Three cold brokers may take longer for their first answers than a query waits when it starts
        admin = admin_of(running.bootstrap_servers)
        wait_until(lambda: _is_described_soon(admin), "brokers that answer soon")
        yield running


def _is_described_soon(admin: AdminClient) -> bool:
    try:
        for described in admin.describe_topics(TopicCollection([TOPIC]), request_timeout=1).values():
            described.result()
    except KafkaException:
        return False
    return True


def leaders(admin: AdminClient, topic: str = TOPIC) -> list[int]:
    """The leader of each partition of a topic; -1 where there is none."""
    return [partition.leader for partition in _partitions(admin, topic)]


def has_all_copies(admin: AdminClient) -> bool:
    """Return whether all replicas of the topic's partitions are in sync."""
    return all(len(partition.isrs) == 3 for partition in _partitions(admin, TOPIC))


def _partitions(admin: AdminClient, topic: str) -> list[PartitionMetadata]:
    found = retried(lambda: admin.list_topics(topic, 10)).topics[topic].partitions
    return [found[number] for number in sorted(found)]
