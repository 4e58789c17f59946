"""The newest messages of many partitions at once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.consumer import new_consumer
from millrace.kafka.errors import client_errors, is_transient
from millrace.options.secrets import Properties

WAIT_S = 0.05
PATIENCE_S = 60.0
DOING = "looking at the newest messages"

FURTHER = 4
"""How many times as far back each next look goes, where one has not found enough."""

MOST_AT_ONCE = 5_000

# What is fetched beyond the few messages of a partition is thrown away, and the user's properties do not matter here
_LITTLE = {"fetch.message.max.bytes": "262144", "queued.min.messages": "1", "statistics.interval.ms": "0"}


@dataclass(eq=False)
class _Looking:
    """A partition that is looked at from ``start`` up to ``stop``.

    Attributes:
        begin: The earliest offset of its log.
        found: The newest of its messages that were found, by offset.
        fresh: Those of them that this look has found.
    """

    begin: int
    start: int
    stop: int
    reach: int
    found: deque[Message] = field(default_factory=deque)
    fresh: list[Message] = field(default_factory=list)


def newest_messages(
    client: Properties, cluster: KafkaAdmin, partitions: Collection[TopicPartition], count: int
) -> dict[TopicPartition, list[Message]]:
    """The newest visible messages of each partition, by offset.

    Offsets say how many messages there are at most: some are those of transactions' ends, of aborted transactions, or
    of messages that compaction has removed. So each partition is looked at from ``count`` offsets before its end on,
    all at once, and those that have given too few from further back, until there is enough or the log begins.

    Args:
        client: Properties for the Kafka client.
        cluster: The same cluster.
        partitions: Where to look.
        count: How many messages of each; fewer where there are no more.

    Raises:
        ClientError: The brokers refused, or did not answer for a minute.
    """
    begin, end = cluster.bounds(partitions)
    looking = {
        at: _Looking(begin[at], max(begin[at], end[at] - count), end[at], count)
        for at in partitions
        if end[at] > begin[at]
    }
    everything = dict(looking)
    if looking:
        consumer = new_consumer(Properties({**client, **_LITTLE})).consumer
        try:
            with client_errors(DOING):
                while looking:
                    _look(consumer, looking)
                    looking = {at: one for at, one in looking.items() if _must_go_on(one, count)}
        finally:
            consumer.close()
    return {at: list(everything[at].found) if at in everything else [] for at in partitions}


def _must_go_on(one: _Looking, count: int) -> bool:
    """Keep what a look has found; whether a further one is needed, which is then prepared."""
    one.found.extendleft(reversed(one.fresh))
    while len(one.found) > count:
        one.found.popleft()
    one.fresh = []
    if len(one.found) >= count or one.start <= one.begin:
        return False
    one.reach *= FURTHER
    one.stop, one.start = one.start, max(one.begin, one.start - one.reach)
    return True


def _look(consumer: Consumer, looking: dict[TopicPartition, _Looking]) -> None:
    """Let each partition find the messages from its start up to its stop."""
    consumer.assign([ClientPartition(*at, one.start) for at, one in looking.items()])
    try:
        left = set(looking)
        for at, message in _arriving(consumer):
            one = looking[at]
            if message is not None and message.offset() < one.stop:
                one.fresh.append(message)
            if at in left and (message is None or message.offset() >= one.stop - 1):
                left.remove(at)
            if not left:
                return
    finally:
        consumer.unassign()


def _arriving(consumer: Consumer) -> Iterator[tuple[TopicPartition, Message | None]]:
    """Messages as they come, and None for a partition that has no more."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for message in consumer.consume(MOST_AT_ONCE, WAIT_S):
            error = message.error()
            at = TopicPartition(message.topic(), message.partition())
            if error is None or _is_end(error):
                yield at, None if error else message
            elif not is_transient(error):
                raise KafkaException(error)
    raise ClientError(f"{DOING}: none came within {PATIENCE_S:.0f} s")


def _is_end(error: KafkaError) -> bool:
    # What was deleted since the log's bounds were looked up is not there to be found
    return error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
