"""The consumer that a worker process keeps from task to task."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.kafka.client_log import ClientLog
from millrace.kafka.client_settings import consumer_settings
from millrace.kafka.errors import (
    END_OF_LOG_CODES,
    NO_GROUP_CODES,
    UNKNOWN_TOPIC_CODES,
    configuration_errors,
    is_transient,
    kafka_error,
)
from millrace.kafka.retry import REQUEST_TIMEOUT_S, RETRY_TIMEOUT_S, SYSTEM_CLOCK, Clock
from millrace.kafka.statistics import STATISTICS_INTERVAL, STATISTICS_INTERVAL_MS, FetchPositions, Statistics
from millrace.options.secrets import Properties
from millrace.worker import CLIENT_MAX_IDLE_S, RESOURCES, ResourceKind, WorkerResources

_DEFAULTS = {
    "group.id": "millrace",
    # A reused consumer changes partitions often, and each change waits for the fetch that is under way
    "fetch.wait.max.ms": "10",
    # librdkafka's 1,000 ms starve a reader that empties a small queue faster than it is filled
    "fetch.queue.backoff.ms": "2",
    "queued.max.messages.kbytes": "32768",
    "queued.min.messages": "100000",
    "isolation.level": "read_committed",
    "socket.nagle.disable": "true",
    STATISTICS_INTERVAL: STATISTICS_INTERVAL_MS,
}

_FIXED = {
    "enable.auto.commit": "false",
    "enable.auto.offset.store": "false",
    "enable.partition.eof": "true",
    # Between two tasks nobody polls, for as long as the query is idle
    "max.poll.interval.ms": "86400000",
}


@dataclass(eq=False)
class KafkaConsumer:
    """A consumer with its log and statistics.

    Attributes:
        client: The client.
        client_log: Its errors and log lines.
        statistics: Its statistics; empty where its fetch positions are followed.
        owner: Who has assigned partitions to it, and gets its messages; None when nobody does. Only the owner may
            unassign them.
        positions: How far it has fetched; None where that is not followed.
    """

    client: Consumer
    client_log: ClientLog
    statistics: Statistics = field(default_factory=Statistics)
    owner: object = None
    positions: FetchPositions | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def assign(self, owner: object, partitions: list[ClientPartition]) -> None:
        """Make somebody the owner, and assign partitions."""
        with self._lock:
            self.owner = owner
        self.client.assign(partitions)

    def unassign(self, owner: object) -> None:
        """Take the partitions away, unless they are somebody else's by now."""
        if self.owner is owner:
            self.client.unassign()
            with self._lock:
                self.owner = None

    def poll(self) -> None:
        """Serve the callbacks of a consumer that nobody reads from."""
        with self._lock, suppress(KafkaException):
            if self.owner is None:
                self.client.poll(0)

    def close(self) -> None:
        """Close the client; nobody owns its partitions any more."""
        with self._lock:
            self.owner = None
        self.client.close()


CONSUMERS = ResourceKind[KafkaConsumer](
    "consumer",
    # A query may have three: for large and small limits, and for the end of its logs
    capacity=8,
    close=KafkaConsumer.close,
    poll=KafkaConsumer.poll,
    max_idle_s=CLIENT_MAX_IDLE_S,
)


def consumer_for(client: Properties, resources: WorkerResources = RESOURCES) -> KafkaConsumer:
    """Return the process's consumer for a client configuration, which each task assigns its own partitions.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    return resources.get(CONSUMERS, client, lambda: new_consumer(client))


def new_consumer(
    client: Properties, positions: FetchPositions | None = None, offset_reset: str = "error"
) -> KafkaConsumer:
    """Create a consumer, to be closed by the caller.

    Args:
        client: Its properties.
        positions: Where it reports how far it has fetched, instead of its statistics.
        offset_reset: Its ``auto.offset.reset``. By default an offset that is gone is an error, never replaced.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    settings = consumer_settings(client)
    client_log, statistics = ClientLog(settings), Statistics()
    with configuration_errors():
        consumer = Consumer(
            {
                **_DEFAULTS,
                **settings,
                **_FIXED,
                "auto.offset.reset": offset_reset,
                **client_log.settings(),
                **(positions or statistics).settings(),
            }
        )
    return KafkaConsumer(consumer, client_log, statistics, positions=positions)


def consume_to_end(
    consumer: Consumer,
    max_messages: int,
    wait_s: float = 0.05,
    timeout_s: float = RETRY_TIMEOUT_S,
    clock: Clock = SYSTEM_CLOCK,
) -> Iterator[tuple[TopicPartition, Message | None]]:
    """Yield messages of the assigned partitions as they arrive, and None for a partition that has no more.

    Args:
        consumer: The consumer.
        max_messages: How many messages to fetch at once.
        wait_s: How long to wait for that many, in seconds.
        timeout_s: How long to go on, in seconds; the caller stops earlier when it has what it needs.
        clock: Measures the timeout.

    Raises:
        KafkaException: The brokers refused.
    """
    deadline = clock.now() + timeout_s
    while clock.now() < deadline:
        yield from messages_and_ends(consumer.consume(max_messages, wait_s))


def messages_and_ends(received: Iterable[Message]) -> Iterator[tuple[TopicPartition, Message | None]]:
    """Yield the messages that a consumer returned, and None for a partition that has no more; drop passing errors.

    Raises:
        KafkaException: One of them is an error that does not pass by itself.
    """
    for message in received:
        partition, error = TopicPartition(message.topic(), message.partition()), message.error()
        if error is None:
            yield partition, message
        elif error.code() in END_OF_LOG_CODES:
            yield partition, None
        elif not is_transient(error) and error.code() not in NO_GROUP_CODES:
            raise KafkaException(error)


def committed_offsets(consumer: Consumer, partitions: list[ClientPartition], timeout_s: float) -> list[ClientPartition]:
    """Look up the committed offsets of a consumer's group.

    Raises:
        KafkaException: The look-up failed, be it only for one partition.
    """
    return raise_partition_errors(consumer.committed(partitions, timeout=timeout_s))


def raise_partition_errors(results: list[ClientPartition]) -> list[ClientPartition]:
    """Return the results of a request for several partitions, unless it failed for one of them.

    Raises:
        KafkaException: It failed.
    """
    for result in results:
        if result.error is not None:
            raise KafkaException(result.error)
    return results


def watermarks(client: Consumer, partition: TopicPartition) -> tuple[int, int]:
    """Look up the bounds of a partition's log; those of a topic that is gone are 0.

    Raises:
        KafkaException: The look-up failed.
    """
    try:
        return client.get_watermark_offsets(ClientPartition(*partition), REQUEST_TIMEOUT_S)
    except KafkaException as error:
        if kafka_error(error).code() not in UNKNOWN_TOPIC_CODES:
            raise
        return 0, 0


def has_fetched_beyond(client: Consumer, positions: Mapping[TopicPartition, int]) -> bool:
    """Return whether brokers have sent a log's end behind a position, without a request."""
    for partition, position in positions.items():
        with suppress(KafkaException):
            _, high = client.get_watermark_offsets(ClientPartition(*partition), cached=True)
            if high > position:
                return True
    return False
