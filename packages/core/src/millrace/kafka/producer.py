"""The producer that a worker process keeps from task to task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from millrace.errors import ClientError
from millrace.kafka.batch_client import BatchClient, TopicPartitions, UndeliveredMessage
from millrace.kafka.client_log import SECURITY_ERROR_GRACE_S, ClientLog
from millrace.kafka.client_settings import SLOW_RECONNECT, client_settings, with_reconnect_backoffs
from millrace.kafka.errors import client_errors, configuration_errors, is_transient, is_transient_exception, kafka_error
from millrace.kafka.idempotence import is_idempotent, is_turned_off
from millrace.kafka.retry import REQUEST_TIMEOUT_S, SYSTEM_CLOCK, Clock, call_with_retries
from millrace.kafka.statistics import Statistics
from millrace.kafka.sticky_partitioner import BatchLimits, StickyPartitioner
from millrace.kafka.topic_limits import BATCH_SIZE, DEFAULT_BATCH_SIZE, MAX_MESSAGE_BYTES, max_message_bytes
from millrace.options.secrets import Properties
from millrace.worker import CLIENT_MAX_IDLE_S, RESOURCES, ResourceKind, WorkerResources

_DEFAULTS: dict[str, Any] = {
    # Java's partitioner for records with a key; librdkafka's own default is another one
    "partitioner": "murmur2_random",
    "linger.ms": "5",
    BATCH_SIZE: str(DEFAULT_BATCH_SIZE),
    "batch.num.messages": "10000",
    "queue.buffering.max.messages": "100000",
    "queue.buffering.max.kbytes": "65536",
    "compression.type": "lz4",
    "socket.nagle.disable": "true",
    # A misspelled name must be an error, not a new topic
    "allow.auto.create.topics": "false",
    # A report of each delivery would cost more than sending the record; only failures matter
    "delivery.report.only.error": True,
}

_IDEMPOTENT = {"enable.idempotence": "true"}

_LINGER_MS = 120_000
"""Linger of idempotent producers, which nearly always send full batches, or because their task is flushed.

An idempotent producer has one request at a time under way to a partition. While it waits for the answer, and the oldest
waiting record is older than the linger, librdkafka 2.16 polls without pause: a whole core, for as long as a distant,
busy or paused broker takes. See docs/decisions/kafka-client.md.
"""

_STICKY_LINGER, _STICKY_LINGER_MS = "sticky.partitioning.linger.ms", "10"
"""The time for which the client sends records without a key to the same partition, in ms, where it chooses."""

_LINGERS = frozenset({"linger.ms", "queue.buffering.max.ms"})
_DELIVERY_TIMEOUTS = ("delivery.timeout.ms", "message.timeout.ms", "transaction.timeout.ms")
_TRANSACTION_TIMEOUT_MS = "60000"
"""The client's default, which bounds deliveries too."""

_LINGER_SHARE = 3
"""The linger is at most this part of the time for deliveries, which begins with it."""

PARTITIONS_MAX_AGE_S = 60.0
"""Time for which a topic's partitions are cached, unless the user sets the maximum age of the client's metadata."""

_LEADERLESS_MAX_AGE_S = 1.0
"""Time for which they are cached while one of them has no leader, as for a moment after the topic was created."""

_SHOWN_KEY_BYTES = 50

METADATA_MAX_AGE = "metadata.max.age.ms"


@dataclass(frozen=True)
class _CachedPartitions:
    """A topic's partitions.

    Attributes:
        partitions: The partitions.
        expires_at: When they are looked up again, by the producer's clock.
        partitioner: What chooses from them for records without a key; None where the client does.
        is_unanswered: Whether the brokers did not answer when they were last looked up.
    """

    partitions: TopicPartitions
    expires_at: float
    partitioner: StickyPartitioner | None
    is_unanswered: bool = False


class KafkaProducer:
    """A producer that counts failed deliveries and remembers the first of them.

    Args:
        settings: Properties for the client.
        in_batches: Whether records are to be produced in batches, where the client can. They have no headers and no
            timestamps of their own.
        client_chooses: Whether the client chooses the partitions of batches of records without a key.
        clock: Ages the cached partitions, and measures retries.
        security_error_grace_s: How long brokers may refuse the client before records that wait for them are an error.

    Attributes:
        client: The client; a `BatchClient` if it takes batches.
        client_log: Its errors and log lines.
        statistics: Its statistics.
    """

    client: Producer | BatchClient

    def __init__(
        self,
        settings: dict[str, Any],
        *,
        in_batches: bool = False,
        client_chooses: bool = False,
        clock: Clock = SYSTEM_CLOCK,
        security_error_grace_s: float = SECURITY_ERROR_GRACE_S,
    ) -> None:
        self.client_log = ClientLog(settings, clock)
        self.statistics = Statistics()
        self._clock = clock
        self._security_error_grace_s = security_error_grace_s
        self._settings = settings
        self._failed_deliveries = _FailedDeliveries()
        self._partitions: dict[str, _CachedPartitions] = {}
        with configuration_errors():
            callbacks = {
                **self.client_log.settings(),
                **self.statistics.settings(),
                **self._failed_deliveries.settings(),
            }
            self.client = _create_client({**settings, **callbacks}, in_batches=in_batches)
        chooses_partitions = isinstance(self.client, BatchClient) and not client_chooses
        self._batch_limits = _batch_limits(settings) if chooses_partitions else None
        # The client has checked that it is a number
        max_age_ms = settings.get(METADATA_MAX_AGE)
        self._partitions_max_age_s = PARTITIONS_MAX_AGE_S if max_age_ms is None else int(max_age_ms) / 1000

    def partition_count(self, topic: str) -> int:
        """Return the number of a topic's partitions.

        It is cached for ``properties.metadata.max.age.ms`` or a minute, at most until deliveries fail, and for a second
        while a partition has no leader.

        The look-up refreshes the client's own metadata, so that its partitioner uses added partitions too.

        Raises:
            UnknownTopicError: There is no such topic.
        """
        cached = self._partitions.get(topic)
        if cached is None or self._is_outdated(cached):
            with client_errors(f"looking up topic {topic!r}"):
                cached = self._look_up_partitions(topic)
            self._partitions[topic] = cached
        return cached.partitions.count

    def sticky_partitioner(self, topic: str) -> StickyPartitioner | None:
        """Return what chooses the partitions of a topic's records without a key; None where the client does.

        The topic's partitions are those that `partition_count` has looked up.
        """
        cached = self._partitions.get(topic)
        return None if cached is None else cached.partitioner

    def forget_partitions(self, topic: str) -> None:
        """Look a topic's partitions up again before the next records, because one of them no longer exists."""
        self._partitions.pop(topic, None)

    def close_batches(self) -> None:
        """Choose partitions again for the next records without a key."""
        for cached in self._partitions.values():
            if cached.partitioner is not None:
                cached.partitioner.close_batch()

    def _is_outdated(self, cached: _CachedPartitions) -> bool:
        return not cached.partitions.count or self._clock.now() > cached.expires_at

    def _expire_partitions(self) -> None:
        # One may have lost its leader; brokers that did not answer are not asked again so soon
        for topic, cached in self._partitions.items():
            if not cached.is_unanswered:
                self._partitions[topic] = replace(cached, expires_at=-math.inf)

    def _partitioner(self, current: StickyPartitioner | None, available: tuple[int, ...]) -> StickyPartitioner | None:
        """Return the current partitioner, which has counted records, unless other partitions are available now."""
        if current is not None and current.available == available:
            return current
        limits = self._batch_limits
        return StickyPartitioner(available, limits) if available and limits is not None else None

    def _look_up_partitions(self, topic: str) -> _CachedPartitions:
        # The driver has reached the brokers: if they do not answer, they are restarting
        return call_with_retries(
            lambda: self._request_partitions(topic),
            is_transient_exception,
            clock=self._clock,
        )

    def _request_partitions(self, topic: str) -> _CachedPartitions:
        cached = self._partitions.get(topic)
        try:
            partitions = topic_partitions(self.client, topic, REQUEST_TIMEOUT_S)
        except KafkaException as error:
            # Records wait in the queue, and the cached partitions have been right so far
            if cached is not None and is_transient(kafka_error(error)):
                return replace(cached, expires_at=self._clock.now() + self._partitions_max_age_s, is_unanswered=True)
            self.client.poll(0)
            self._raise_security_error(0)
            raise
        is_leaderless = len(partitions.available) < partitions.count
        max_age_s = min(self._partitions_max_age_s, _LEADERLESS_MAX_AGE_S if is_leaderless else math.inf)
        partitioner = self._partitioner(self.sticky_partitioner(topic), partitions.available)
        return _CachedPartitions(partitions, self._clock.now() + max_age_s, partitioner)

    def pop_failures(self) -> tuple[int, str]:
        """Return the number of deliveries that failed since the last call, and a description of the first.

        Raises:
            ClientError: Records wait for brokers that refuse this client.
        """
        if len(self.client):
            self._raise_security_error(self._security_error_grace_s)
        count, first = self._failed_deliveries.pop()
        if first is None:
            return 0, ""
        self._expire_partitions()
        return count, first.describe(self._settings)

    def check_brokers(self, silent_s: float) -> None:
        """Check that the client still looks for brokers, which it does unless a subclass says otherwise.

        Args:
            silent_s: The time since their last answer, in seconds.
        """

    def poll(self) -> None:
        """Serve the client's callbacks."""
        # A transactional producer that was replaced raises, which does not concern the task that polls
        with suppress(KafkaException):
            self.client.poll(0)

    def _raise_security_error(self, min_duration_s: float) -> None:
        security_error = self.client_log.security_error(min_duration_s)
        if security_error:
            raise ClientError(f"writing to Kafka failed: {security_error}")


@dataclass(frozen=True)
class _FailedDelivery:
    """A record that was not delivered.

    Attributes:
        place: Its partition, or its topic.
        error: What the client says.
        topic: Its topic, if it or its batch was too large; None for any other reason.
        key: Its key.
        size: The bytes of its key and value.
    """

    place: str
    error: str
    topic: str | None = None
    key: bytes | None = None
    size: int = 0

    def describe(self, settings: Mapping[str, Any]) -> str:
        """Return why it was not delivered; ``settings`` are the producer's."""
        if self.topic is None:
            return f"{self.place}: {self.error}"
        limit = max_message_bytes(settings, self.topic)
        key = "without a key" if self.key is None else f"with key {self.key[:_SHOWN_KEY_BYTES]!r}"
        limited = f"the topic's '{MAX_MESSAGE_BYTES}'{'' if limit is None else f' = {limit}'}"
        record = f"{self.place}: {self.error}: a record {key} has {self.size} bytes"
        if limit is not None and self.size > limit:
            return f"{record}, which compressed exceed {limited}: raise that, or leave the record out"
        return (
            f"{record}, and it or its batch exceeds {limited}: name the topic by the option 'topic', so that batches "
            f"are made to fit, or set 'properties.{BATCH_SIZE}' lower"
        )


class _FailedDeliveries:
    """The failed deliveries that a client reports.

    It does not refer to the producer. Objects that refer to each other are freed by a garbage collection alone, and
    workers exclude most of theirs from it: the client would stay connected until the worker ends.
    """

    def __init__(self) -> None:
        self._count = 0
        self._first: _FailedDelivery | None = None

    def settings(self) -> dict[str, Any]:
        """Return the client properties that make it report here."""
        return {"on_delivery": self._on_delivery}

    def pop(self) -> tuple[int, _FailedDelivery | None]:
        """Return the number of deliveries that failed since the last call, and the first."""
        failed = self._count, self._first
        self._count, self._first = 0, None
        return failed

    def _on_delivery(self, error: KafkaError | None, message: Message | UndeliveredMessage) -> None:
        if error is None:
            return
        if self._first is None:
            self._first = _failed_delivery(error, message)
        self._count += 1


def _failed_delivery(error: KafkaError, message: Message | UndeliveredMessage) -> _FailedDelivery:
    partition, topic = message.partition(), message.topic()
    is_chosen = partition is not None and partition >= 0
    place = f"{topic}-{partition}" if is_chosen else f"topic {topic}"
    if error.code() != KafkaError.MSG_SIZE_TOO_LARGE:
        return _FailedDelivery(place, error.str())
    key = message.key()
    return _FailedDelivery(place, error.str(), topic, key, len(key or b"") + len(message.value() or b""))


def _create_client(settings: dict[str, Any], *, in_batches: bool) -> Producer | BatchClient:
    return BatchClient(settings) if in_batches and BatchClient.accepts(settings) else Producer(settings)


def topic_partitions(client: Producer | BatchClient, topic: str, timeout_s: float) -> TopicPartitions:
    """Ask a broker for a topic's partitions.

    Raises:
        KafkaException: There is no such topic, or no answer within this time, in seconds.
    """
    if isinstance(client, BatchClient):
        return client.topic_partitions(topic, timeout_s)
    metadata = client.list_topics(topic, timeout_s).topics[topic]
    if metadata.error is not None:
        raise KafkaException(metadata.error)
    return TopicPartitions.of({number: partition.leader for number, partition in metadata.partitions.items()})


def _batch_limits(settings: Mapping[str, Any]) -> BatchLimits | None:
    """Return the limits of a batch; None if they are written in a way that only the client understands."""
    records, size = (str({**_DEFAULTS, **settings}[name]) for name in ("batch.num.messages", BATCH_SIZE))
    return BatchLimits(int(records), int(size)) if records.isdecimal() and size.isdecimal() else None


PRODUCERS = ResourceKind[KafkaProducer](
    "producer",
    capacity=4,
    poll=KafkaProducer.poll,
    max_idle_s=CLIENT_MAX_IDLE_S,
    # A task without a delivery guarantee leaves records behind
    is_busy=lambda producer: len(producer.client) > 0,
)


def producer_for(
    client: Properties, *, idempotent: bool, in_batches: bool = False, resources: WorkerResources = RESOURCES
) -> KafkaProducer:
    """Return the process's producer for a client configuration, used by one task after the other.

    Args:
        client: Properties for the Kafka client; they win over millrace's defaults.
        idempotent: Whether retries must neither repeat nor reorder records, unless ``client`` says otherwise.
        in_batches: As of `KafkaProducer`.
        resources: Keeps the producer.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    return resources.get(
        PRODUCERS,
        (client, idempotent, in_batches),
        lambda: KafkaProducer(
            producer_settings(client, idempotent=idempotent),
            in_batches=in_batches,
            # How long the client stays with a partition is the user's choice
            client_chooses=_STICKY_LINGER in client,
        ),
    )


def producer_settings(client: Properties, *, idempotent: bool, transactional_id: str | None = None) -> dict[str, Any]:
    """Return all properties of a producer; those of ``client`` win over millrace's defaults."""
    transactional = {} if transactional_id is None else {"transactional.id": transactional_id}
    defaults = {**_DEFAULTS, **(_IDEMPOTENT if idempotent and not is_turned_off(client) else {})}
    settings = with_reconnect_backoffs({**defaults, **client_settings(client), **transactional}, SLOW_RECONNECT)
    # Producers that nobody waits for are not flushed
    if idempotent and is_idempotent(settings) and not _LINGERS & client.keys():
        settings["linger.ms"] = str(_linger_ms(settings))
        # By default twice the linger: records without a key would all go to one partition
        settings.setdefault(_STICKY_LINGER, _STICKY_LINGER_MS)
    return settings


def _linger_ms(settings: Mapping[str, Any]) -> int:
    bounds = {"transaction.timeout.ms": _TRANSACTION_TIMEOUT_MS} if "transactional.id" in settings else {}
    bounds |= settings
    timeouts = [str(bounds[name]) for name in _DELIVERY_TIMEOUTS if name in bounds]
    # Anything but a positive number is without a limit, or an error that the client reports
    limits = [int(text) // _LINGER_SHARE for text in timeouts if text.isdigit() and int(text)]
    return min([_LINGER_MS, *limits])
