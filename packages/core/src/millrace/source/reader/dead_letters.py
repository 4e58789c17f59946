"""Collect the malformed messages that a query skips: nowhere, in the log, or in a dead letter topic.

A dead letter has the key, the value and the headers of its message, and more headers for the error, as dead letters of
Kafka Connect have (KIP-298).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from confluent_kafka import Message

from millrace.configuration import SourceConfig
from millrace.kafka.delivery import Delivery, record_errors
from millrace.kafka.errors import client_errors
from millrace.kafka.producer import producer_for
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties
from millrace.source.reader.error_policy import MalformedRecord, MalformedRecordCollector
from millrace.worker import RESOURCES, ResourceKind, WorkerResources

logger = logging.getLogger("millrace.dirty_data")

MAX_LOGGED = 10
LOG_PERIOD_S = 10.0
"""A worker logs at most this many messages per period; at its end, each task logs how many were left out."""

ERROR_HEADER_PREFIX = "millrace.error."
"""The beginning of the names of those headers that describe the error."""

Headers = list[tuple[str, bytes | None]]


class RateLimit:
    """Allow an action a limited number of times in each period.

    Args:
        max_count: How many times.
        period_s: The period, in seconds; it begins with the first time.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, max_count: int, period_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_count = max_count
        self._period_s = period_s
        self._clock = clock
        self._period_began_at = -period_s
        self._count = 0

    def try_acquire(self) -> bool:
        """Return whether it is allowed once more now; counts it if so."""
        now = self._clock()
        if now - self._period_began_at >= self._period_s:
            self._period_began_at, self._count = now, 0
        if self._count >= self._max_count:
            return False
        self._count += 1
        return True


RATE_LIMITS = ResourceKind[RateLimit]("rate limit", capacity=1)


def collector_for(config: SourceConfig, resources: WorkerResources = RESOURCES) -> MalformedRecordCollector:
    """Return the collector that the options ask for, for one task."""
    options = config.options
    if options.dead_letter_topic is not None:
        return DeadLetterTopic(config.client, options.dead_letter_topic, resources)
    if options.dirty_collector != "logger":
        return DiscardingCollector()
    return LogCollector(resources.get(RATE_LIMITS, None, lambda: RateLimit(MAX_LOGGED, LOG_PERIOD_S)))


class DiscardingCollector:
    """Discard malformed messages."""

    def collect(self, malformed: Sequence[MalformedRecord]) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""


class LogCollector:
    """Log malformed messages as warnings, a limited number of them.

    Args:
        rate_limit: How many this worker logs.
    """

    def __init__(self, rate_limit: RateLimit) -> None:
        self._rate_limit = rate_limit
        self._left_out = 0

    def collect(self, malformed: Sequence[MalformedRecord]) -> None:
        """Log as many messages as the rate limit allows."""
        for each in malformed:
            if self._rate_limit.try_acquire():
                logger.warning("%s. It is skipped", each)
            else:
                self._left_out += 1

    def finish(self) -> None:
        """Log how many messages were left out."""
        if self._left_out:
            logger.warning(
                "This task skipped %d more malformed messages that are not logged (limit: %d per %.0f s)",
                self._left_out,
                MAX_LOGGED,
                LOG_PERIOD_S,
            )


class DeadLetterTopic:
    """Write malformed messages to a topic as they are, with headers for position and reason.

    The producer is made for the first of them, and kept by the worker.

    Args:
        client: Properties for the Kafka client that reads.
        topic: The topic.
        resources: Keeps the producer.
    """

    def __init__(self, client: Properties, topic: str, resources: WorkerResources = RESOURCES) -> None:
        self._client = client
        self._resources = resources
        self._topic = topic
        self._delivery: Delivery | None = None

    def collect(self, malformed: Sequence[MalformedRecord]) -> None:
        """Hand messages to the producer.

        Raises:
            DeliveryError: Earlier ones could not be delivered.
            MessageError: One is larger than the client accepts.
        """
        delivery = self._open_delivery()
        with client_errors(f"writing to topic {self._topic!r}"), record_errors(self._topic):
            for each in malformed:
                message = each.message
                headers = dead_letter_headers(each)
                delivery.produce(self._topic, value=message.value(), key=message.key(), headers=headers)
        delivery.check()

    def finish(self) -> None:
        """Wait until the brokers have acknowledged all messages.

        Raises:
            DeliveryError: Some could not be delivered.
        """
        if self._delivery is not None:
            self._delivery.flush()
        self._resources.poll()

    def _open_delivery(self) -> Delivery:
        if self._delivery is None:
            self._delivery = Delivery(
                # Nobody would take its statistics
                producer_for(
                    Properties({**self._client, **STATISTICS_OFF}), idempotent=True, resources=self._resources
                ),
                "malformed messages (option 'dirty-data.collector.topic')",
                "Spark reads its messages again",
            )
        return self._delivery


def dead_letter_headers(malformed: MalformedRecord) -> Headers:
    """Return a message's own headers, and those for where it was and what is wrong with it."""
    message = malformed.message
    error = {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp": _timestamp_ms(message),
        "part": "key" if malformed.is_key else "value",
        "format": malformed.format,
        "reason": malformed.reason,
    }
    added: Headers = [
        (ERROR_HEADER_PREFIX + name, str(value).encode()) for name, value in error.items() if value is not None
    ]
    return [*(message.headers() or ()), *added]


def _timestamp_ms(message: Message) -> int | None:
    millis: int = message.timestamp()[1]
    return millis if millis >= 0 else None
