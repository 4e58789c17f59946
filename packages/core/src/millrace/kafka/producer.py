"""The producer that a worker process keeps from task to task."""

from __future__ import annotations

import functools
import time
import weakref
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from millrace.errors import ClientError
from millrace.kafka.admin import PATIENCE_S, REQUEST_TIMEOUT_S, RETRY_PAUSE_S
from millrace.kafka.client_log import REFUSED_S, ClientLog
from millrace.kafka.client_settings import client_settings
from millrace.kafka.errors import client_errors, configuration_errors, is_transient, kafka_error
from millrace.kafka.statistics import Statistics
from millrace.options.secrets import Properties

_DEFAULTS: dict[str, Any] = {
    # Java's partitioner for records with a key; librdkafka's own default is another one
    "partitioner": "murmur2_random",
    "linger.ms": "5",
    "batch.size": "1000000",
    "batch.num.messages": "10000",
    "queue.buffering.max.messages": "100000",
    "queue.buffering.max.kbytes": "65536",
    "compression.type": "lz4",
    "socket.nagle.disable": "true",
    # A misspelled name must be an error, not a new topic
    "allow.auto.create.topics": "false",
    # A report of each delivery would cost more than sending the record; failures are what must be known
    "delivery.report.only.error": True,
}

PARTITION_COUNT_HOLDS_S = 60.0
"""How long a topic's partition count is used before it is looked up again, unless the user says how old the client's
metadata may be."""

MAX_AGE = "metadata.max.age.ms"

_all: weakref.WeakSet[WatchedProducer] = weakref.WeakSet()

_IDEMPOTENT = {"enable.idempotence": "true"}


class WatchedProducer:
    """A producer that remembers the first delivery that failed and how many did.

    Args:
        settings: Properties for the client.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.watch = ClientLog(settings)
        self.statistics = Statistics()
        self._failed = 0
        self._first: tuple[str, KafkaError] | None = None
        self._partition_counts: dict[str, tuple[int, float]] = {}
        with configuration_errors():
            callbacks = {**self.watch.settings(), **self.statistics.settings(), "on_delivery": self._on_delivery}
            self.client = Producer({**settings, **callbacks})
        _all.add(self)
        # The client has checked that it is a number
        self._counts_hold_s = int(settings[MAX_AGE]) / 1000 if MAX_AGE in settings else PARTITION_COUNT_HOLDS_S

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has, looked up at first and then again every minute.

        The option ``properties.metadata.max.age.ms`` says how often instead. The client's own partitioner learns of
        added partitions by the same look.

        Raises:
            UnknownTopicError: There is no such topic.
        """
        count, looked_at = self._partition_counts.get(topic, (0, 0.0))
        if not count or time.monotonic() - looked_at > self._counts_hold_s:
            with client_errors(f"looking up topic {topic!r}"):
                count = self._look_up(topic, count)
            self._partition_counts[topic] = count, time.monotonic()
        return count

    def _look_up(self, topic: str, known: int) -> int:
        # The driver has found the brokers: they are restarting when they do not answer
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                found = self.client.list_topics(topic, REQUEST_TIMEOUT_S).topics[topic]
            except KafkaException as error:
                # Records wait in the queue, and the count has held so far
                if known and is_transient(kafka_error(error)):
                    return known
                self.client.poll(0)
                self._check_not_refused(0)
                if not is_transient(kafka_error(error)) or time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_PAUSE_S)
            else:
                if found.error is not None:
                    raise KafkaException(found.error)
                return len(found.partitions)

    def take_failures(self) -> tuple[int, str]:
        """How many deliveries failed since the last call, and the first of them in words.

        Raises:
            ClientError: Records wait for brokers that refuse this client.
        """
        if len(self.client):
            self._check_not_refused(REFUSED_S)
        failed, first = self._failed, self._first
        self._failed, self._first = 0, None
        return failed, f"{first[0]}: {first[1].str()}" if first else ""

    def _check_not_refused(self, for_s: float) -> None:
        refusal = self.watch.refusal(for_s)
        if refusal:
            raise ClientError(f"writing to Kafka failed: {refusal}")

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            return
        self._failed += 1
        if self._first is None:
            partition = message.partition()
            chosen = partition is not None and partition >= 0
            self._first = f"{message.topic()}-{partition}" if chosen else f"topic {message.topic()}", error


def poll_all() -> None:
    """Let all producers of this process hand out their statistics, which would pile up in those that are not used."""
    for producer in list(_all):
        # A transactional one that was replaced raises, which is not this task's concern
        with suppress(KafkaException):
            producer.client.poll(0)


@functools.lru_cache(maxsize=4)
def producer_for(client: Properties, *, idempotent: bool) -> WatchedProducer:
    """This process's producer for a client configuration; made once, used by one task after the other.

    Args:
        client: Properties for the Kafka client; they win over millrace's defaults.
        idempotent: Whether retries must neither repeat nor reorder records, unless ``client`` says otherwise.

    Raises:
        OptionsError: The client does not accept its properties.
    """
    return WatchedProducer(producer_settings(client, idempotent=idempotent))


def producer_settings(client: Properties, *, idempotent: bool) -> dict[str, Any]:
    """All properties of a producer; those of ``client`` win over millrace's defaults."""
    return {**_DEFAULTS, **(_IDEMPOTENT if idempotent else {}), **client_settings(client)}
