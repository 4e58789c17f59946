"""Streams while the leaders of their partitions move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from confluent_kafka import ElectionType
from confluent_kafka.admin import AdminClient

from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import CONSUMERS
from millrace.options.secrets import Properties
from millrace.worker import RESOURCES
from millrace_broker import KafkaCluster
from support.leaders import TOPIC, has_all_copies, leaders, three_brokers
from support.queries import wait_for_batches_with_rows
from support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with three_brokers() as running:
        yield running
    # The groups' consumers, which a process keeps for the next micro-batch
    RESOURCES.drop(CONSUMERS)


def check_groups(groups: list[KafkaAdmin], offset: int) -> None:
    at = TopicPartition(TOPIC, 0)
    for group in groups:
        group.commit({at: offset}, "mine")
        assert (group.committed([at]), group.committed_metadata([at])) == ({at: offset}, {at: "mine"})


def test_no_record_is_lost_or_repeated_when_all_leaders_move(cluster, writing, saved):
    producer = writing(cluster.bootstrap_servers, TOPIC)
    query = saved.start(cluster.bootstrap_servers, TOPIC)

    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    preferred = leaders(admin)
    assert len(set(preferred)) == 2
    # As many groups as the embedded broker has partitions for them: some have moved, whichever broker ends
    named = [Properties({"bootstrap.servers": cluster.bootstrap_servers, "group.id": f"group-{n}"}) for n in range(4)]
    groups = [KafkaAdmin(client) for client in named]
    wait_for_batches_with_rows(query, 2)
    for offset, (node, end) in enumerate(zip(preferred, ["kill", "stop"], strict=True)):
        check_groups(groups, 2 * offset)
        broker = cluster.brokers[node - 1]
        getattr(broker, end)()
        wait_until(lambda gone=node: gone not in leaders(admin), "other brokers to lead")
        check_groups(groups, 2 * offset + 1)
        wait_for_batches_with_rows(query, 2)
        broker.start()
        wait_until(lambda: has_all_copies(admin), "the broker to catch up")
    admin.elect_leaders(ElectionType.PREFERRED).result()
    wait_until(lambda: leaders(admin) == preferred, "the leaders to be where they were")
    wait_for_batches_with_rows(query, 2)
    written = producer.finish()
    query.processAllAvailable()

    assert saved.numbers() == Counter(range(written))
