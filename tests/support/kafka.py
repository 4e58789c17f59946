"""Writing and reading topics with a plain client, to compare with what millrace does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition


def produce(servers: str, topic: str, records: Iterable[dict[str, Any]], **properties: str) -> None:
    """Write records, each the arguments of `Producer.produce`."""
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", **properties})
    failures: list[KafkaError] = []
    for record in records:
        producer.produce(topic, on_delivery=lambda error, _: failures.append(error) if error else None, **record)
        producer.poll(0)
    assert producer.flush(30) == 0
    assert not failures


def consume(servers: str, topic: str, isolation: str = "read_committed") -> list[Message]:
    """All messages of a topic, by partition and offset."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "tests",
            "enable.auto.commit": "false",
            "enable.partition.eof": "true",
            "isolation.level": isolation,
        }
    )
    try:
        partitions = consumer.list_topics(topic, 10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        messages: list[Message] = []
        open_partitions = set(partitions)
        while open_partitions:
            for message in consumer.consume(5_000, 0.2):
                if message.error() is None:
                    messages.append(message)
                else:
                    assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                    open_partitions.discard(message.partition())
        return sorted(messages, key=lambda message: (message.partition(), message.offset()))
    finally:
        consumer.close()
