"""Looks at a few records on the driver, whose limits need more than offsets: how large records are, and how old."""

from __future__ import annotations

import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.consumer import consumer_for
from millrace.kafka.errors import client_errors, is_transient
from millrace.options.secrets import Properties
from millrace.source.enumerator.stream_offset import Offsets

SAMPLE_RECORDS = 200
TIMESTAMPS = "looking at the timestamps of records"

MOST_LOOKED_AT = 10_000
"""How many records a search for a timestamp goes through."""

WAIT_S = 0.05
PATIENCE_S = 60.0

# Fetch little, since most of it would be thrown away; the user's properties do not matter here
_LITTLE = {"fetch.message.max.bytes": "65536", "queued.min.messages": "1"}


def mean_record_bytes(client: Properties, start: Offsets, end: Offsets) -> float | None:
    """The mean size of keys and values, in bytes, of some records from ``start`` on; None when none came.

    Args:
        client: Properties for the Kafka client.
        start: Where each partition is.
        end: Where each of them could go; only records before are waited for.
    """
    positions = {partition: offset for partition, offset in start.items() if end[partition] > offset}
    looking, sizes = set(positions), []
    for partition, message in _records(_consumer(client), positions, "looking at the size of records"):
        if message is None or message.offset() >= end[partition]:
            looking.discard(partition)
        else:
            sizes.append(len(message) + len(message.key() or b""))
        if len(sizes) >= SAMPLE_RECORDS or not looking:
            break
    return max(1.0, sum(sizes) / len(sizes)) if sizes else None


def next_timestamps(client: Properties, start: Offsets, end: Offsets) -> dict[TopicPartition, int]:
    """The timestamp, in ms since 1970 UTC, of each partition's first visible record; those without one are left out.

    Args:
        client: Properties for the Kafka client.
        start: Where each partition is.
        end: Where each of them could go.

    Raises:
        ClientError: The brokers refused, or did not answer for a minute.
    """
    found: dict[TopicPartition, int] = {}
    looking = set(start)
    consumer = _consumer(client)
    for partition, message in _records(consumer, start, TIMESTAMPS):
        if partition in looking:
            if message is not None and message.offset() < end[partition]:
                found[partition] = message.timestamp()[1]
            looking.remove(partition)
            consumer.incremental_unassign([ClientPartition(*partition)])
        if not looking:
            break
    return found


def offset_of_timestamp(client: Properties, partition: TopicPartition, millis: int, start: int, end: int) -> int:
    """The offset of the first record from ``start`` on with a timestamp of ``millis`` or later; ``end`` without one.

    The search ends early after 10,000 records, with the offset that it has come to, which is beyond ``start``.

    Raises:
        ClientError: As `next_timestamps`.
    """
    for looked_at, (_, message) in enumerate(_records(_consumer(client), {partition: start}, TIMESTAMPS)):
        if message is None or message.offset() >= end:
            return end
        is_found = message.timestamp()[1] >= millis
        if message.offset() > start and (is_found or looked_at >= MOST_LOOKED_AT):
            return message.offset()
    return end


def _records(consumer: Consumer, start: Offsets, doing: str) -> Iterator[tuple[TopicPartition, Message | None]]:
    """Records as they come, and None for a partition that has no more; ``doing`` is for errors."""
    if not start:
        return
    deadline = time.monotonic() + PATIENCE_S
    with client_errors(doing):
        consumer.assign([ClientPartition(*partition, offset) for partition, offset in start.items()])
        try:
            while time.monotonic() < deadline:
                for message in consumer.consume(max(len(start), SAMPLE_RECORDS), WAIT_S):
                    partition = TopicPartition(message.topic(), message.partition())
                    error = message.error()
                    if error is None or _is_end(error):
                        yield partition, None if error else message
                    elif not is_transient(error):
                        raise KafkaException(error)
        finally:
            consumer.unassign()
    raise ClientError(f"no record came within {PATIENCE_S:.0f} s when {doing}")


def _is_end(error: KafkaError) -> bool:
    # An offset that is gone is for the reader to tell
    return error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)


def _consumer(client: Properties) -> Consumer:
    return consumer_for(Properties({**client, **_LITTLE})).consumer
