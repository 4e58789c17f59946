"""Read a few records on the driver, whose limits need more than offsets: how large records are, and how old."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from confluent_kafka import Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.consumer import KafkaConsumer, consume_to_end, consumer_for, new_consumer
from millrace.kafka.errors import client_errors
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties
from millrace.source.enumerator.truncation_detection import EpochPosition

SAMPLE_RECORDS = 200

MAX_SCANNED_RECORDS = 10_000
"""Largest number of records that a search for a timestamp reads."""

_LOOKING_AT_SIZES = "looking at the size of records"
_LOOKING_AT_TIMESTAMPS = "looking at the timestamps of records"
_LOOKING_FOR_TRUNCATIONS = "looking for the ends of earlier leaders' logs"

# Fetch little, since most of it would be thrown away; the user's properties do not matter here. Nobody polls between
# two looks, so that statistics would pile up
_FETCH_LITTLE = {"fetch.message.max.bytes": "65536", "queued.min.messages": "1", **STATISTICS_OFF}


class RecordProbe:
    """Read a few records of some partitions.

    Args:
        client: Properties for the Kafka client.
    """

    def __init__(self, client: Properties) -> None:
        self._client = Properties({**client, **_FETCH_LITTLE})

    def mean_record_bytes(self, start: Offsets, end: Offsets) -> float | None:
        """Return the mean size of keys and values, in bytes, of some records from ``start`` on; None when none came.

        Args:
            start: Where each partition is.
            end: Where each of them could go; only records before are waited for.

        Raises:
            ClientError: The brokers refused, or did not answer for a minute.
        """
        positions = {partition: offset for partition, offset in start.items() if end[partition] > offset}
        pending, sizes = set(positions), []
        for partition, message in _records(self._consumer(), positions, _LOOKING_AT_SIZES):
            if message is None or message.offset() >= end[partition]:
                pending.discard(partition)
            else:
                sizes.append(len(message) + len(message.key() or b""))
            if len(sizes) >= SAMPLE_RECORDS or not pending:
                break
        return max(1.0, sum(sizes) / len(sizes)) if sizes else None

    def next_timestamps(self, start: Offsets, end: Offsets) -> dict[TopicPartition, int]:
        """Return the timestamp, in ms since 1970 UTC, of each partition's first visible record.

        Args:
            start: Where each partition is.
            end: Where each of them could go; partitions without a record before are left out.

        Raises:
            ClientError: As `mean_record_bytes`.
        """
        timestamps: dict[TopicPartition, int] = {}
        pending = set(start)
        consumer = self._consumer()
        for partition, message in _records(consumer, start, _LOOKING_AT_TIMESTAMPS):
            if partition in pending:
                if message is not None and message.offset() < end[partition]:
                    timestamps[partition] = message.timestamp()[1]
                pending.remove(partition)
                consumer.client.incremental_unassign([ClientPartition(*partition)])
            if not pending:
                break
        return timestamps

    def offset_of_timestamp(self, partition: TopicPartition, millis: int, start: int, end: int) -> int:
        """Return the offset of the first record from ``start`` on with a timestamp of ``millis`` or later, or ``end``.

        The search ends early after 10,000 records, with the offset that it has come to, which is beyond ``start``.

        Raises:
            ClientError: As `mean_record_bytes`.
        """
        records = _records(self._consumer(), {partition: start}, _LOOKING_AT_TIMESTAMPS)
        for scanned, (_, message) in enumerate(records):
            if message is None or message.offset() >= end:
                return end
            is_match = message.timestamp()[1] >= millis
            if message.offset() > start and (is_match or scanned >= MAX_SCANNED_RECORDS):
                return message.offset()
        return end

    def truncations(self, positions: Mapping[TopicPartition, EpochPosition]) -> dict[TopicPartition, int]:
        """Return where logs were truncated before a position; partitions whose logs were not are left out.

        Args:
            positions: Offsets that the logs reach to, and the epochs of leaders whose logs held all records before.

        Raises:
            ClientError: As `mean_record_bytes`.
        """
        # A consumer that may reset offsets goes back to where the log was truncated (OffsetsForLeaderEpoch)
        client = Properties({**self._client, "isolation.level": "read_uncommitted"})
        consumer = new_consumer(client, offset_reset="earliest")
        truncated: dict[TopicPartition, int] = {}
        pending = set(positions)
        try:
            with client_errors(_LOOKING_FOR_TRUNCATIONS):
                consumer.client.assign(
                    [
                        ClientPartition(*partition, at.offset, leader_epoch=at.leader_epoch)
                        for partition, at in positions.items()
                    ]
                )
                for partition, message in consume_to_end(consumer.client, len(positions)):
                    if partition in pending and message is not None and message.offset() < positions[partition].offset:
                        truncated[partition] = message.offset()
                    if partition in pending:
                        pending.remove(partition)
                        consumer.client.incremental_unassign([ClientPartition(*partition)])
                    if not pending:
                        return truncated
        finally:
            consumer.close()
        raise ClientError(f"no record came within {RETRY_TIMEOUT_S:.0f} s when {_LOOKING_FOR_TRUNCATIONS}")

    def _consumer(self) -> KafkaConsumer:
        return consumer_for(self._client)


def _records(consumer: KafkaConsumer, start: Offsets, doing: str) -> Iterator[tuple[TopicPartition, Message | None]]:
    """Yield records as they come, and None for a partition that has no more; ``doing`` is for errors."""
    if not start:
        return
    with client_errors(doing):
        owner = object()
        consumer.assign(owner, [ClientPartition(*partition, offset) for partition, offset in start.items()])
        try:
            # That an offset is gone is for the reader to report
            yield from consume_to_end(consumer.client, max(len(start), SAMPLE_RECORDS))
        finally:
            consumer.unassign(owner)
    raise ClientError(f"no record came within {RETRY_TIMEOUT_S:.0f} s when {doing}")
