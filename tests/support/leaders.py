"""Leaders of a topic's partitions in a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka.admin import AdminClient, PartitionMetadata

from millrace_broker import KafkaCluster

TOPIC = "numbers"


@contextmanager
def three_brokers() -> Iterator[KafkaCluster]:
    """A cluster that goes on without one of its brokers, with the topic."""
    with KafkaCluster(brokers=3, java_options=["-XX:TieredStopAtLevel=1"]) as running:
        running.create_topic(TOPIC, 2, {"min.insync.replicas": "2"})
        yield running


def leaders(admin: AdminClient) -> list[int]:
    """The leader of each partition of the topic."""
    return [partition.leader for partition in _partitions(admin)]


def has_all_copies(admin: AdminClient) -> bool:
    """Return whether all replicas of the topic's partitions are in sync."""
    return all(len(partition.isrs) == 3 for partition in _partitions(admin))


def _partitions(admin: AdminClient) -> list[PartitionMetadata]:
    found = admin.list_topics(TOPIC, 10).topics[TOPIC].partitions
    return [found[number] for number in sorted(found)]
