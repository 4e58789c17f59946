"""Read the newest messages of many partitions at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from confluent_kafka import Consumer, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import consume_to_end, new_consumer
from millrace.kafka.errors import client_errors
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties

ACTION = "looking at the newest messages"

WIDENING_FACTOR = 4
"""Growth of the range of offsets from one scan of a partition to the next."""

MAX_MESSAGES_PER_POLL = 5_000

# Most of what a consumer fetches ahead would be thrown away, so that the user's properties do not count here
_FETCH_LITTLE = {"fetch.message.max.bytes": "262144", "queued.min.messages": "1", **STATISTICS_OFF}


@dataclass(eq=False)
class PartitionScan:
    """The scan of a partition, backwards from its end in ranges of offsets that get wider.

    Attributes:
        begin: The earliest offset of the partition's log.
        start: Where the current range starts.
        stop: Where the current range stops, exclusively.
        width: The number of offsets of the current range.
        newest: The newest messages so far, by offset.
        current: The messages of the current range.
    """

    begin: int
    start: int
    stop: int
    width: int
    newest: deque[Message] = field(default_factory=deque)
    current: list[Message] = field(default_factory=list)

    def widen(self, count: int) -> bool:
        """Finish the current range, and go on to the one before it if that is needed.

        Args:
            count: The number of messages to find.

        Returns:
            Whether there is a range to scan.
        """
        self.newest.extendleft(reversed(self.current))
        while len(self.newest) > count:
            self.newest.popleft()
        self.current = []
        if len(self.newest) >= count or self.start <= self.begin:
            return False
        self.width *= WIDENING_FACTOR
        self.stop, self.start = self.start, max(self.begin, self.start - self.width)
        return True


def newest_messages(
    client: Properties, admin: KafkaAdmin, partitions: Collection[TopicPartition], count: int
) -> dict[TopicPartition, list[Message]]:
    """Read the newest visible messages of each partition.

    Offsets are an upper bound of the number of messages: some belong to transaction markers, to aborted transactions,
    or to messages that compaction has removed. So each partition is scanned from ``count`` offsets before its end, all
    of them at once; those that have given too few messages are scanned further back, until there are enough.

    Args:
        client: Properties for the Kafka client.
        admin: An admin client of the same cluster.
        partitions: The partitions.
        count: How many messages of each; fewer if its log has no more.

    Returns:
        By partition, its messages in the order of their offsets.

    Raises:
        ClientError: The brokers refused, or did not answer for a minute.
    """
    begin, end, *_ = admin.bounds(partitions)
    scans = {
        partition: PartitionScan(begin[partition], max(begin[partition], end[partition] - count), end[partition], count)
        for partition in partitions
        if end[partition] > begin[partition]
    }
    if scans:
        consumer = new_consumer(Properties({**client, **_FETCH_LITTLE}))
        try:
            with client_errors(ACTION):
                unfinished = scans
                while unfinished:
                    _scan_ranges(consumer.client, unfinished)
                    unfinished = {partition: scan for partition, scan in unfinished.items() if scan.widen(count)}
        finally:
            consumer.close()
    return {partition: list(scans[partition].newest) if partition in scans else [] for partition in partitions}


def _scan_ranges(consumer: Consumer, scans: dict[TopicPartition, PartitionScan]) -> None:
    """Read the messages of each partition's current range."""
    consumer.assign([ClientPartition(*partition, scan.start) for partition, scan in scans.items()])
    try:
        unfinished = set(scans)
        # A partition that has lost messages since its bounds were looked up has less to find
        for partition, message in consume_to_end(consumer, MAX_MESSAGES_PER_POLL):
            scan = scans[partition]
            if message is not None and message.offset() < scan.stop:
                scan.current.append(message)
            if message is None or message.offset() >= scan.stop - 1:
                unfinished.discard(partition)
            if not unfinished:
                return
    finally:
        consumer.unassign()
    raise ClientError(f"{ACTION}: none came within {RETRY_TIMEOUT_S:.0f} s")
