"""Streams while the leaders of their partitions move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from confluent_kafka import ElectionType

from millrace.configuration.build import configure_sink
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import CONSUMERS
from millrace.kafka.producer import PRODUCERS
from millrace.options.secrets import Properties
from millrace.sink.pipeline import write
from millrace.sink.write_task import WriteTask
from millrace.worker import RESOURCES
from millrace_broker import KafkaCluster
from support.admin import admin_of
from support.kafka import consume
from support.leaders import TOPIC, has_all_copies, leaders, three_brokers
from support.queries import wait_for_batches_with_rows
from support.retrying import retried
from support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with three_brokers() as running:
        yield running
    # A process keeps its clients for the next micro-batch
    RESOURCES.drop(CONSUMERS)
    RESOURCES.drop(PRODUCERS)


def check_groups(groups: list[KafkaAdmin], offset: int) -> None:
    at = TopicPartition(TOPIC, 0)
    for group in groups:
        retried(lambda group=group: group.commit({at: offset}, "mine"))
        assert (group.committed([at]), group.committed_metadata([at])) == ({at: offset}, {at: "mine"})


def test_no_record_is_lost_or_repeated_when_all_leaders_move(cluster, writing, saved):
    producer = writing(cluster.bootstrap_servers, TOPIC)
    query = saved.start(cluster.bootstrap_servers, TOPIC)

    admin = admin_of(cluster.bootstrap_servers)
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
    retried(lambda: admin.elect_leaders(ElectionType.PREFERRED).result())
    wait_until(lambda: leaders(admin) == preferred, "the leaders to be where they were")
    wait_for_batches_with_rows(query, 2)
    written = producer.finish()
    query.processAllAvailable()

    assert saved.numbers() == Counter(range(written))


def test_records_without_keys_go_to_partitions_that_have_a_leader(cluster):
    cluster.create_topic("single-copies", 6, replication=1)
    admin = admin_of(cluster.bootstrap_servers)
    led_by = leaders(admin, "single-copies")
    gone = min(led_by)
    left = {number for number, leader in enumerate(led_by) if leader != gone}
    cluster.brokers[gone - 1].kill()
    wait_until(
        lambda: {n for n, leader in enumerate(leaders(admin, "single-copies")) if leader >= 0} == left,
        "its partitions to have no leader",
    )
    # A task that waited for the broker would fail
    options = {"properties.delivery.timeout.ms": "20000", "topic": "single-copies"}
    config = configure_sink({"properties.bootstrap.servers": cluster.bootstrap_servers, **options})
    rows = pa.record_batch({"value": pa.array([b"row"] * 40_000, pa.binary())})
    write(config, rows.schema, [rows], WriteTask(0, 1, "me"))
    # Reading waits for all partitions
    cluster.brokers[gone - 1].start()
    messages = consume(cluster.bootstrap_servers, "single-copies")
    assert Counter(message.partition() for message in messages) == dict.fromkeys(left, 40_000 // len(left))
