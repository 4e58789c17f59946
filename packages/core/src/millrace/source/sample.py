"""How large records are, by a look at a few: Kafka counts offsets, a read limit in bytes counts bytes."""

from __future__ import annotations

from confluent_kafka import TopicPartition as ClientPartition

from millrace.kafka.consumer import consumer_for
from millrace.kafka.errors import client_errors
from millrace.options.secrets import Properties
from millrace.source.offsets import Offsets

_RECORDS = 200
_WAIT_S = 0.5


def mean_record_bytes(client: Properties, positions: Offsets) -> float:
    """The mean size of keys and values, in bytes, of some records at ``positions``; at least 1."""
    consumer = consumer_for(client).consumer
    with client_errors("looking at the size of records"):
        consumer.assign([ClientPartition(*partition, offset) for partition, offset in positions.items()])
        try:
            messages = [message for message in consumer.consume(_RECORDS, _WAIT_S) if message.error() is None]
        finally:
            consumer.unassign()
    sizes = [len(message.value() or b"") + len(message.key() or b"") for message in messages]
    return max(1.0, sum(sizes) / len(sizes)) if sizes else 1.0
