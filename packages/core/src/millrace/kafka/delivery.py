"""Delivery: from single records to brokers that have acknowledged them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from millrace.errors import DeliveryError, MessageError
from millrace.kafka.errors import kafka_error
from millrace.kafka.producer import WatchedProducer

QUEUE_WAIT_S = 0.02
FLUSH_STEP_S = 1.0


class Delivery:
    """Hands the records of one task to its worker's producer, and waits for the brokers.

    Args:
        producer: The worker's producer.
        what: What the records are, for errors.
        again: What Spark does when the task is tried again, for errors.

    Attributes:
        records: How many records were handed over.
        failed: How many deliveries were seen to fail before the first record and after `leave`, where they fail no
            task.
        send_ms: How long `finish` waited for the brokers; None before.
    """

    def __init__(
        self, producer: WatchedProducer, what: str = "records", again: str = "Spark writes its rows again"
    ) -> None:
        self._producer = producer
        self._client = producer.client
        self._what = what
        self._again = again
        self.records = 0
        self.send_ms: int | None = None
        # Of a task before, which had not waited for them
        self.failed, _ = producer.take_failures()

    def produce(self, topic: str, **record: Any) -> None:
        """Hand over one record, waiting while the producer's queue is full.

        Args:
            topic: Where it goes.
            **record: Further arguments of the client's ``produce``.

        Raises:
            DeliveryError: Records handed over earlier could not be delivered.
        """
        self.records += 1
        try:
            self._client.produce(topic, **record)
        except BufferError:
            self._wait_and_produce(topic, **record)

    def check(self) -> None:
        """Look for failures.

        Raises:
            DeliveryError: Records handed over earlier could not be delivered.
        """
        self._client.poll(0)
        self._check()

    def finish(self) -> None:
        """Wait until the brokers have acknowledged every record.

        Raises:
            DeliveryError: Some could not be delivered within the client's ``delivery.timeout.ms``.
        """
        began = monotonic()
        while self._client.flush(FLUSH_STEP_S):
            self._check()
        self._check()
        self.send_ms = int((monotonic() - began) * 1000)

    def leave(self) -> None:
        """Count the deliveries that have failed by now, and leave the others to the client."""
        self._client.poll(0)
        self.failed += self._producer.take_failures()[0]

    def _wait_and_produce(self, topic: str, **record: Any) -> None:
        while True:
            self._client.poll(QUEUE_WAIT_S)
            self._check()
            with suppress(BufferError):
                self._client.produce(topic, **record)
                return

    def _check(self) -> None:
        failed, first = self._producer.take_failures()
        if failed:
            said = self._producer.watch.said()
            raise DeliveryError(
                f"{failed} of {self.records} {self._what} handed to the client so far were not delivered; the first, "
                f"{first}{f' ({said})' if said else ''}. The task fails, and {self._again} when it is tried again"
            )


@contextmanager
def record_errors(topic: str) -> Iterator[None]:
    """Tell what the client says of one record as the record's fault, not the cluster's.

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
