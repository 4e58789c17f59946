"""How large records are, by a look at a few: Kafka counts offsets, a read limit in bytes counts bytes."""

from __future__ import annotations

from confluent_kafka import TopicPartition as ClientPartition

from millrace.kafka.consumer import consumer_for
from millrace.kafka.errors import client_errors
from millrace.options.secrets import Properties
from millrace.source.offsets import Offsets

_RECORDS = 200
_WAIT_S = 0.5


def mean_record_bytes(client: Properties, start: Offsets, end: Offsets) -> float | None:
    """The mean size of keys and values, in bytes, of some records from ``start`` on; None when none came.

    Args:
        client: Properties for the Kafka client.
        start: Where each partition is.
        end: Where each of them could go; only records before are waited for.
    """
    positions = {partition: offset for partition, offset in start.items() if end[partition] > offset}
    waiting = sum(end[partition] - offset for partition, offset in positions.items())
    consumer = consumer_for(client).consumer
    with client_errors("looking at the size of records"):
        consumer.assign([ClientPartition(*partition, offset) for partition, offset in positions.items()])
        try:
            sampled = consumer.consume(min(_RECORDS, waiting), _WAIT_S)
        finally:
            consumer.unassign()
    sizes = [len(found.value() or b"") + len(found.key() or b"") for found in sampled if found.error() is None]
    return max(1.0, sum(sizes) / len(sizes)) if sizes else None
