"""Writing and reading topics with a plain client, to compare with what millrace does."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec

from millrace.kafka.errors import is_transient
from support.admin import admin_of, partitions_of
from support.retrying import flush, retried, retried_all, send
from support.waiting import wait_until

QUICK_BROKER = ("-XX:TieredStopAtLevel=1",)
"""The Java options of a broker that starts sooner and leaves more of the processor to others."""


def produce(servers: str, topic: str, records: Iterable[dict[str, Any]], **properties: str) -> None:
    """Write records, each the arguments of `Producer.produce`."""
    # Without idempotence, a retry could repeat records or change their order
    kept_in_order = {"enable.idempotence": "true", "partitioner": "murmur2_random"}
    producer = Producer({"bootstrap.servers": servers, **kept_in_order, **properties})
    failures: list[KafkaError] = []
    for record in records:
        send(producer, topic, on_delivery=lambda error, _: failures.append(error) if error else None, **record)
    flush(producer)
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
        numbers = [each.partition for each in partitions_of(consumer, topic)]
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
        messages: list[Message] = []
        open_partitions = set(numbers)
        while open_partitions:
            for message in consumer.consume(5_000, 0.02):
                if message.error() is None:
                    messages.append(message)
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    open_partitions.discard(message.partition())
                else:
                    # The client goes on by itself
                    assert is_transient(message.error()), message.error()
        return sorted(messages, key=lambda message: (message.partition(), message.offset()))
    finally:
        consumer.close()


def commit_offsets(servers: str, group: str, offsets: Iterable[TopicPartition]) -> None:
    """Commit offsets of a consumer group without members."""
    consumer, given = Consumer({"bootstrap.servers": servers, "group.id": group}), list(offsets)
    try:
        retried(lambda: consumer.commit(offsets=given, asynchronous=False))
    finally:
        consumer.close()


def committed_offsets(servers: str, group: str, partitions: Iterable[TopicPartition]) -> list[int]:
    """Return the committed offsets of a consumer group; a negative one where there is none."""
    consumer, asked = Consumer({"bootstrap.servers": servers, "group.id": group}), list(partitions)
    try:
        return [found.offset for found in retried(lambda: consumer.committed(asked, 10))]
    finally:
        consumer.close()


def transactional_producer(servers: str, transactional_id: str, **properties: Any) -> Producer:
    """Return a producer that can begin transactions; `retried` ends them: ``retried(producer.commit_transaction)``."""
    settings = {"bootstrap.servers": servers, "transactional.id": transactional_id, "log_level": 0, **properties}
    producer = Producer(settings)
    retried(producer.init_transactions)
    return producer


def has_hidden_records(servers: str, topic: str) -> bool:
    """Return whether a topic has records that cannot be read yet, since transactions are open."""
    admin = admin_of(servers)
    latest = dict.fromkeys(partitions_of(admin, topic), OffsetSpec.latest())

    def ends(isolation: IsolationLevel) -> list[int]:
        found = retried_all(lambda: admin.list_offsets(latest, isolation_level=isolation, request_timeout=10))
        return [each.offset for each in found]

    return ends(IsolationLevel.READ_COMMITTED) != ends(IsolationLevel.READ_UNCOMMITTED)


def wait_for_markers(servers: str, topic: str) -> None:
    """Wait until all records can be read: brokers answer a commit before its markers are in the log."""
    with suppress(AssertionError):
        wait_until(lambda: not has_hidden_records(servers, topic), "the markers of commits", 20)
