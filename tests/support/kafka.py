"""Writing and reading topics with a plain client, to compare with what millrace does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from support.waiting import wait_until

QUICK_BROKER = ("-XX:TieredStopAtLevel=1",)
"""The Java options of a broker that starts sooner and leaves more of the processor to others."""

_COORDINATOR_IS_STARTING = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
"""A commit, which the client does not repeat, gets these after a broker's first group or while a coordinator moves."""


def produce(servers: str, topic: str, records: Iterable[dict[str, Any]], **properties: str) -> None:
    """Write records, each the arguments of `Producer.produce`."""
    # Without idempotence, a retry could repeat records or change their order
    kept_in_order = {"enable.idempotence": "true", "partitioner": "murmur2_random"}
    producer = Producer({"bootstrap.servers": servers, **kept_in_order, **properties})
    failures: list[KafkaError] = []
    for record in records:
        producer.produce(topic, on_delivery=lambda error, _: failures.append(error) if error else None, **record)
        producer.poll(0)
    assert producer.flush(30) == 0
    assert not failures


def consume(servers: str, topic: str, isolation: str = "read_committed") -> list[Message]:
    """Read the messages of a topic, by partition and offset."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "tests",
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "fetch.wait.max.ms": "10",
            "isolation.level": isolation,
        }
    )
    try:
        partitions = consumer.list_topics(topic, 10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
        messages: list[Message] = []
        open_partitions = set(partitions)
        while open_partitions:
            for message in consumer.consume(5_000, 0.02):
                if message.error() is None:
                    messages.append(message)
                else:
                    assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                    open_partitions.discard(message.partition())
        return sorted(messages, key=lambda message: (message.partition(), message.offset()))
    finally:
        consumer.close()


def commit_offsets(consumer: Consumer, offsets: list[TopicPartition]) -> None:
    """Commit offsets of a consumer's group, as soon as its coordinator has loaded the group."""
    commit_when_coordinator_is_ready(lambda: consumer.commit(offsets=offsets, asynchronous=False))


def commit_when_coordinator_is_ready(commit: Callable[[], object]) -> None:
    """Call what commits offsets, until the group's coordinator has loaded the group."""

    def committed() -> bool:
        try:
            commit()
        except KafkaException as error:
            if error.args[0].code() not in _COORDINATOR_IS_STARTING:
                raise
            return False
        return True

    wait_until(committed, "the coordinator of a consumer group")


def has_hidden_records(servers: str, topic: str) -> bool:
    """Return whether a topic has records that cannot be read yet, since transactions are open."""
    admin = AdminClient({"bootstrap.servers": servers})
    partitions = [TopicPartition(topic, number) for number in admin.list_topics(topic, 10).topics[topic].partitions]

    def ends(isolation: IsolationLevel) -> list[int]:
        latest = dict.fromkeys(partitions, OffsetSpec.latest())
        found = admin.list_offsets(latest, isolation_level=isolation, request_timeout=10)
        return [found[partition].result().offset for partition in partitions]

    return ends(IsolationLevel.READ_COMMITTED) != ends(IsolationLevel.READ_UNCOMMITTED)


def wait_for_markers(servers: str, topic: str) -> None:
    """Wait until all records can be read: brokers answer a commit before its markers are in the log."""
    with suppress(AssertionError):
        wait_until(lambda: not has_hidden_records(servers, topic), "the markers of commits", 20)


def delete_topics(servers: str, topics: Iterable[str]) -> None:
    """Delete topics."""
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.delete_topics(list(topics)).values():
        future.result(30)
