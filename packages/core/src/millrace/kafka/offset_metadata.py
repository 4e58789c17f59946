"""Text kept by Kafka beside a consumer group's committed offset, as its metadata.

A transaction commits such a text atomically with its records; see KIP-98 and ``Producer.sendOffsetsToTransaction``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from millrace.contracts import TopicPartition
from millrace.errors import ClientError
from millrace.kafka.client_log import ClientLog
from millrace.kafka.client_settings import consumer_settings, with_reconnect_backoffs, without_producer_properties
from millrace.kafka.consumer import committed_offsets
from millrace.kafka.errors import client_errors, configuration_errors, is_transient, kafka_error
from millrace.kafka.retry import SYSTEM_CLOCK, Clock, call_with_retries
from millrace.options.secrets import Properties

REQUEST_TIMEOUT_S = 10.0
_RETRY_INTERVAL_S = 0.1

FAST_RETRY = {"retry.backoff.ms": "20"}
"""The default of 100 ms would be most of the time that a producer needs for its first transaction."""

_FAST_RECONNECT = {"reconnect.backoff.ms": "20"}

T = TypeVar("T")


def offset_with_metadata(topic: str, offset: int, metadata: str) -> ClientPartition:
    """Return an offset of a topic's partition 0, to be committed with a text as its metadata."""
    return ClientPartition(topic, 0, offset, metadata)


def for_group(group_metadata: bytes, group: str, other: str) -> bytes:
    """Return the metadata of another consumer group without members, which needs no client to be asked for.

    Args:
        group_metadata: The metadata of a group.
        group: The group.
        other: The other one.
    """
    # librdkafka ends each name by a zero byte, and does not count
    name = b"%b\0"
    changed = group_metadata.replace(name % group.encode(), name % other.encode(), 1)
    if changed == group_metadata:
        raise ValueError(f"the Kafka client writes the metadata of consumer group {group!r} otherwise than expected")
    return changed


def read_offset_metadata(
    client: Properties, group: str, topic: str, *, read_committed: bool = True
) -> tuple[str | None, bytes]:
    """Read the metadata of a consumer group's committed offset of a topic's partition 0.

    Args:
        client: Properties for the Kafka client.
        group: The consumer group.
        topic: The topic.
        read_committed: Whether to wait for open transactions that are about to change it.

    Returns:
        The metadata, None if no offset is committed; and the group's own metadata, to commit another offset.

    Raises:
        ClientError: The brokers refuse, or do not answer.
    """
    reader = OffsetReader(client, group, read_committed=read_committed)
    try:
        return reader.read(topic)
    finally:
        reader.close()


class OffsetReader:
    """A client that reads the offsets of one consumer group, and stays connected.

    Args:
        client: Properties for the Kafka client.
        group: The consumer group.
        read_committed: Whether to wait for open transactions that are about to change an offset.

    Raises:
        OptionsError: The client does not accept its properties.
    """

    def __init__(self, client: Properties, group: str, *, read_committed: bool = True) -> None:
        self._group = group
        self._consumer = _consumer(client, group, "read_committed" if read_committed else "read_uncommitted")

    def read(self, topic: str, once_within_s: float | None = None) -> tuple[str | None, bytes]:
        """Read what `read_offset_metadata` does.

        Args:
            topic: The topic.
            once_within_s: How long a single attempt may take, in seconds; by default it is retried for a minute.

        Raises:
            ClientError: The brokers refuse, or do not answer.
        """

        def request(timeout_s: float) -> list[ClientPartition]:
            return committed_offsets(self._consumer, [ClientPartition(topic, 0)], timeout_s)

        with client_errors(f"reading the offsets of consumer group {self._group!r}"):
            (committed,) = retry_transaction_request(request) if once_within_s is None else request(once_within_s)
        text = (committed.metadata or "") if committed.offset >= 0 else None
        return text, self.group_metadata

    @property
    def group_metadata(self) -> bytes:
        """The group's own metadata, to commit an offset."""
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        """Close the client."""
        self._consumer.close()


def read_group_offsets(
    client: Properties, group: str, partitions: Collection[TopicPartition]
) -> tuple[dict[TopicPartition, tuple[int, str]], bytes]:
    """Read a consumer group's committed offsets with their metadata; waits for open transactions that change them.

    Args:
        client: Properties for the Kafka client.
        group: The consumer group.
        partitions: The partitions.

    Returns:
        Offset and metadata of each partition that has one; and the group's own metadata, to commit others.

    Raises:
        ClientError: The brokers refuse, or do not answer.
    """
    consumer = _consumer(client, group, "read_committed")
    asked = [ClientPartition(*partition) for partition in partitions]
    try:
        with client_errors(f"reading the offsets of consumer group {group!r}"):
            positions = retry_transaction_request(lambda timeout_s: committed_offsets(consumer, asked, timeout_s))
        committed = {
            TopicPartition(position.topic, position.partition): (position.offset, position.metadata or "")
            for position in positions
            if position.offset >= 0
        }
        return committed, consumer.consumer_group_metadata()
    finally:
        consumer.close()


class OffsetCommitter:
    """A client that commits offsets to a consumer group without waiting for the brokers' answers.

    Args:
        client: Properties for the Kafka client.
        group: The consumer group.

    Raises:
        OptionsError: The client does not accept its properties.
    """

    def __init__(self, client: Properties, group: str) -> None:
        self._group = group
        self._consumer = _consumer(client, group, "read_uncommitted")

    def commit(self, offset: ClientPartition) -> None:
        """Commit an offset as soon as the brokers can be reached.

        Raises:
            ClientError: The client refuses.
        """
        with client_errors(f"committing an offset of consumer group {self._group!r}"):
            self._consumer.commit(offsets=[offset], asynchronous=True)
            # Takes the answers of the commits before, which would pile up
            self._consumer.poll(0)

    def close(self) -> None:
        """Close the client."""
        self._consumer.close()


def has_timed_out(error: ClientError) -> bool:
    """Return whether the brokers have not given the answer to a request in time."""
    cause = error.__cause__
    return isinstance(cause, KafkaException) and kafka_error(cause).code() == KafkaError._TIMED_OUT


def retry_transaction_request(request: Callable[[float], T], clock: Clock = SYSTEM_CLOCK) -> T:
    """Return the result of a request, retrying it for a minute while its failure is transient.

    Args:
        request: The request; takes its timeout, in seconds.
        clock: Measures the timeout and waits.

    Raises:
        KafkaException: The request failed, or the transaction must be aborted.
    """

    def is_retryable(error: BaseException) -> bool:
        if not isinstance(error, KafkaException):
            return False
        cause = kafka_error(error)
        return is_transient(cause) and not cause.fatal() and not cause.txn_requires_abort()

    return call_with_retries(
        lambda: request(REQUEST_TIMEOUT_S), is_retryable, interval_s=_RETRY_INTERVAL_S, clock=clock
    )


def _consumer(client: Properties, group: str, isolation_level: str) -> Consumer:
    settings = with_reconnect_backoffs(consumer_settings(without_producer_properties(client)), _FAST_RECONNECT)
    required: dict[str, Any] = {
        "group.id": group,
        "enable.auto.commit": "false",
        "isolation.level": isolation_level,
        "socket.nagle.disable": "true",
    }
    with configuration_errors():
        return Consumer({**FAST_RETRY, **settings, **required, **ClientLog(settings).settings()})
