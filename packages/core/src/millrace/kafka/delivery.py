"""Deliver records: hand them to the producer, and wait for the brokers' acknowledgements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from millrace.errors import DeliveryError, MessageError
from millrace.kafka.errors import kafka_error
from millrace.kafka.outages import TOLD_AFTER_S, Outage
from millrace.kafka.producer import KafkaProducer

QUEUE_WAIT_S = 0.02
FLUSH_INTERVAL_S = 0.1
"""Seconds between two pushes of a flush while nothing is acknowledged."""

_FIRST_FLUSH_INTERVAL_S = 0.002
"""Seconds between the first two pushes, which double.

A transaction's first push only adds its partitions, and a client that is busy with other batches misses it.
"""

_PUSH_S = 0.001
_POLL_S = 0.002


class _Pushes:
    """Pushes of records that wait for their batch to be full, whenever some were acknowledged, or from time to time.

    The client's own flush ends lingering for as long as it waits, and an idempotent client polls without pause for all
    that time.
    """

    def __init__(self, client: Any, max_interval_s: float) -> None:
        self._client = client
        self._max_interval_s = max_interval_s
        self._interval_s = _FIRST_FLUSH_INTERVAL_S
        self._fewest_waiting, self._pushed_at = math.inf, monotonic()
        self._acknowledged_at = self._pushed_at

    @property
    def silent_s(self) -> float:
        """The time since the last acknowledgement, in seconds."""
        return monotonic() - self._acknowledged_at

    def push_if_due(self) -> bool:
        """Push, unless nothing was acknowledged since the last time, which was only just now."""
        waiting, now = len(self._client), monotonic()
        # Errors and log lines that wait for `poll` count too: their coming and going is no acknowledgement
        is_first_or_acknowledged = waiting < self._fewest_waiting
        if not is_first_or_acknowledged and now - self._pushed_at < min(self._interval_s, self._max_interval_s):
            return False
        self._client.flush(_PUSH_S)
        self._interval_s = _FIRST_FLUSH_INTERVAL_S if is_first_or_acknowledged else self._interval_s * 2
        self._fewest_waiting, self._pushed_at = min(waiting, self._fewest_waiting), now
        if is_first_or_acknowledged:
            self._acknowledged_at = now
        return True


class Delivery:
    """Deliver the records of one task by its worker's producer.

    Args:
        producer: The worker's producer.
        noun: The noun for the records in errors.
        on_retry: What Spark does when it retries the task, for errors.
        flush_interval_s: How often waiting records are pushed while nothing is acknowledged, in seconds.

    Attributes:
        records: The number of records produced.
        failed: The number of failed deliveries that fail no task: those of earlier tasks, and those that
            `count_failures` finds.
        send_ms: How long `flush` waited for the brokers, in ms; None before.
    """

    def __init__(
        self,
        producer: KafkaProducer,
        noun: str = "records",
        on_retry: str = "Spark writes its rows again",
        *,
        flush_interval_s: float = FLUSH_INTERVAL_S,
    ) -> None:
        self._producer = producer
        # A task that produces one by one has a client for that
        self._client: Any = producer.client
        self._noun = noun
        self._on_retry = on_retry
        self._flush_interval_s = flush_interval_s
        self._outage = Outage(producer.client_log.servers)
        self.records = 0
        self.send_ms: int | None = None
        # Those of an earlier task, which did not wait for them
        self.failed, _ = producer.pop_failures()

    def produce(self, topic: str, **record: Any) -> None:
        """Produce one record, waiting while the producer's queue is full.

        Args:
            topic: The record's topic.
            **record: Further arguments of `confluent_kafka.Producer.produce`.

        Raises:
            DeliveryError: Earlier records could not be delivered.
        """
        self.records += 1
        try:
            self._client.produce(topic, **record)
        except BufferError:
            self._wait_and_produce(topic, **record)

    def check(self) -> None:
        """Raise if deliveries have failed.

        Raises:
            DeliveryError: Earlier records could not be delivered.
        """
        self._client.poll(0)
        self._check()

    def flush(self) -> None:
        """Wait until the brokers have acknowledged every record.

        Raises:
            DeliveryError: Some could not be delivered within the client's ``delivery.timeout.ms``.
        """
        began, pushes = monotonic(), self._pushes()
        while len(self._client):
            if pushes.push_if_due():
                self._check()
                self._watch(pushes)
            else:
                self._client.poll(_POLL_S)
        self._check()
        self._outage.ends()
        self.send_ms = int((monotonic() - began) * 1000)

    def count_failures(self) -> None:
        """Count the deliveries that have failed so far, without waiting for the others."""
        self._client.poll(0)
        self.failed += self._producer.pop_failures()[0]

    def _pushes(self) -> _Pushes:
        return _Pushes(self._client, self._flush_interval_s)

    def _wait_for_room(self, pushes: _Pushes) -> None:
        # Among many partitions, a queue is full before any batch is, and would be until the linger is over
        pushes.push_if_due()
        self._client.poll(QUEUE_WAIT_S)
        self._check()
        self._watch(pushes)

    def _watch(self, pushes: _Pushes) -> None:
        silent_s = pushes.silent_s
        if silent_s < TOLD_AFTER_S:
            self._outage.ends()
            return
        errors = self._producer.client_log.recent_errors()
        self._outage.goes_on(silent_s, f"writing {self._noun}", errors, "up to 'properties.delivery.timeout.ms'")
        self._producer.check_brokers(silent_s)

    def _wait_and_produce(self, topic: str, **record: Any) -> None:
        pushes = self._pushes()
        while True:
            self._wait_for_room(pushes)
            with suppress(BufferError):
                self._client.produce(topic, **record)
                return

    def _check(self) -> None:
        failed, first = self._producer.pop_failures()
        if failed:
            recent_errors = self._producer.client_log.recent_errors()
            raise DeliveryError(
                f"{failed} of {self.records} {self._noun} handed to the client so far were not delivered; the first, "
                f"{first}{f' ({recent_errors})' if recent_errors else ''}. The task fails, and {self._on_retry} when "
                f"it is tried again"
            )


@contextmanager
def record_errors(topic: str) -> Iterator[None]:
    """Translate the client's refusal of a single record.

    Raises:
        MessageError: The record is larger than the client accepts.
    """
    try:
        yield
    except KafkaException as error:
        if kafka_error(error).code() != KafkaError.MSG_SIZE_TOO_LARGE:
            raise
        raise MessageError(
            f"a record for topic {topic!r} is larger than the client accepts: {kafka_error(error).str()}. Raise "
            f"'properties.max.request.size', and the topic's max.message.bytes with it"
        ) from error
