"""Kafka clients of a worker that no task uses any more, on the real broker."""

from __future__ import annotations

import gc

import psutil
import pyarrow as pa
import pytest
from confluent_kafka import TopicPartition

from millrace.configuration.build import configure_sink
from millrace.kafka.admin import admin_for
from millrace.kafka.consumer import consumer_for
from millrace.kafka.producer import PRODUCERS, producer_for
from millrace.kafka.write_admin import write_admin_for
from millrace.options.secrets import Properties
from millrace.sink.committer.producer_sessions import TransactionSessions
from millrace.sink.pipeline import write
from millrace.sink.write_task import WriteTask
from millrace.worker import CLIENT_MAX_IDLE_S, WorkerResources
from support.clock import Clock
from support.kafka import consume
from support.waiting import PATIENCE_S, wait_until


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def resources(clock):
    yield WorkerResources(clock)
    gc.unfreeze()


@pytest.fixture
def client(broker):
    return Properties({"bootstrap.servers": broker.bootstrap_servers})


@pytest.fixture
def topic(make_topic):
    return make_topic(1)


@pytest.fixture
def open_ports(broker):
    """The local ports of the connections to the broker that this process has opened since the test began."""
    port = int(broker.bootstrap_servers.rpartition(":")[2])

    def ports() -> set[int]:
        found = psutil.Process().net_connections("tcp")
        return {each.laddr.port for each in found if each.raddr and each.raddr.port == port}

    before = ports()
    return lambda: ports() - before


def use_admin(client, topic, resources):
    admin_for(client, resources).topic_names()


def use_write_admin(client, topic, resources):
    write_admin_for(client, resources=resources).topic_config(topic)


def use_consumer(client, topic, resources):
    consumer_for(client, resources).client.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)


def use_producer(client, topic, resources):
    producer_for(client, idempotent=True, resources=resources).partition_count(topic)


def use_batch_producer(client, topic, resources):
    producer_for(client, idempotent=True, in_batches=True, resources=resources).partition_count(topic)


def use_transactional_producer(client, topic, resources):
    transactions = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": topic}
    options = {"properties.bootstrap.servers": client["bootstrap.servers"], "topic": topic, **transactions}
    rows = pa.record_batch({"value": pa.array([b"written once"])})
    task = WriteTask(0, 1, "a-query", is_streaming=True)
    assert write(configure_sink(options), rows.schema, [rows], task, resources=resources).rows == 1
    assert len(TransactionSessions(resources)) == 1


USES = [use_admin, use_write_admin, use_consumer, use_producer, use_batch_producer, use_transactional_producer]


@pytest.mark.parametrize("use", USES)
def test_an_idle_client_disconnects(use, client, topic, resources, clock, open_ports):
    use(client, topic, resources)
    # As a worker does after its first task
    gc.collect()
    gc.freeze()
    clock.now += CLIENT_MAX_IDLE_S - 1
    resources.begin_task()
    # A client closes its first connection once it knows the broker, and opens another one
    wait_until(open_ports, "the client to be connected")
    clock.now += 2
    wait_until(lambda: resources.begin_task() or not open_ports(), "the client to close its connections")


def test_a_producer_with_records_is_kept_until_they_are_delivered(broker, client, topic, resources, clock):
    producer = producer_for(client, idempotent=True, resources=resources)
    producer.client.produce(topic, b"waits for its batch")
    clock.now += CLIENT_MAX_IDLE_S + 1
    resources.begin_task()
    assert list(resources.items(PRODUCERS).values()) == [producer]
    producer.client.flush(PATIENCE_S)
    wait_until(lambda: resources.begin_task() or not resources.items(PRODUCERS), "the producer to be dropped")
    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"waits for its batch"]
