"""Exactly-once writes while leaders and the coordinators of transactions move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from confluent_kafka import ElectionType

from millrace.kafka.write_admin import WriteAdmin
from millrace.options.secrets import Properties
from millrace_broker import KafkaCluster
from support.admin import admin_of
from support.copying import Copy
from support.leaders import TOPIC, has_all_copies, leaders, three_brokers
from support.queries import wait_for_batches_with_rows
from support.retrying import retried
from support.waiting import wait_until
from support.writing import SteadyProducer


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with three_brokers() as running:
        yield running


@pytest.fixture
def writing(cluster):
    producer = SteadyProducer(cluster.bootstrap_servers, TOPIC)
    producer.start()
    yield producer
    producer.finish()


@pytest.fixture
def once(cluster, tmp_path):
    """An exactly-once copy of the topic, by as many tasks as the embedded broker has partitions for transactions."""
    WriteAdmin(Properties({"bootstrap.servers": cluster.bootstrap_servers})).create_missing(["once"], 2, 3)
    read = {"scan.parallelism": "4", "scan.max-records-per-batch": "20000"}
    copy = Copy(cluster.bootstrap_servers, TOPIC, "once", tmp_path, read=read)
    yield copy
    copy.stop()


def test_no_record_is_lost_or_repeated_when_all_leaders_move(spark, cluster, writing, once):
    query = once.start(spark, ends=False)

    admin = admin_of(cluster.bootstrap_servers)
    target = retried(lambda: admin.list_topics("once", 10)).topics["once"]
    assert {len(found.replicas) for found in target.partitions.values()} == {3}
    preferred = leaders(admin)
    assert len(set(preferred)) == 2
    wait_for_batches_with_rows(query, 2)
    for node, end in zip(preferred, ["kill", "stop"], strict=True):
        broker = cluster.brokers[node - 1]
        getattr(broker, end)()
        wait_until(lambda gone=node: gone not in leaders(admin), "other brokers to lead")
        wait_for_batches_with_rows(query, 2)
        broker.start()
        wait_until(lambda: has_all_copies(admin), "the broker to catch up")
    retried(lambda: admin.elect_leaders(ElectionType.PREFERRED).result())
    wait_until(lambda: leaders(admin) == preferred, "the leaders to be where they were")
    wait_for_batches_with_rows(query, 2)
    written = writing.finish()
    query.processAllAvailable()
    query.stop()

    assert once.copied() == Counter(range(written))
