"""Producing: from records to Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from time import monotonic
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from millrace.errors import DeliveryError, MessageError
from millrace.kafka.errors import client_errors, kafka_error
from millrace.kafka.producer import WatchedProducer
from millrace.sink.records import Records

CLIENT_DECIDES = -1
NOW = 0
QUEUE_WAIT_S = 0.02
FLUSH_STEP_S = 1.0


class Output:
    """Writes the records of one task through its worker's producer.

    Args:
        producer: The worker's producer.

    Attributes:
        records: How many records were handed over.
        failed: How many deliveries were seen to fail before `send` and after it, where they fail no task.
        send_ms: How long `finish` waited for the brokers; None before.
    """

    def __init__(self, producer: WatchedProducer) -> None:
        self._producer = producer
        self._client = producer.client
        self.records = 0
        self.send_ms: int | None = None
        # Of a task before, which had not waited for them
        self.failed, _ = producer.take_failures()

    def send(self, records: Records, partitions: pa.Int32Array | None) -> None:
        """Hand records to the producer, waiting while its queue is full.

        Args:
            records: What to write.
            partitions: The partition of each record, null where the client decides; None when it decides for all.

        Raises:
            DeliveryError: Records handed over earlier could not be delivered.
            MessageError: A record is larger than the client accepts.
        """
        self.records += len(records)
        with client_errors(f"writing to topic {records.topic!r}"), _record_errors(records.topic):
            if records.is_values_only and partitions is None:
                self._send_values(records.topic, records.values.to_list())
            else:
                self._send_full(records, partitions)
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

    def _send_values(self, topic: str, values: Sequence[bytes | None]) -> None:
        produce = self._client.produce
        for value in values:
            try:
                produce(topic, value)
            except BufferError:
                self._wait_and_produce(topic, value=value)

    def _send_full(self, records: Records, partitions: pa.Int32Array | None) -> None:
        topic, count = records.topic, len(records)
        values = records.values.to_list()
        keys = repeat(None, count) if records.keys is None else records.keys.to_list()
        headers = repeat([], count) if records.headers is None else records.headers
        chosen, times = _numbers(partitions, count, CLIENT_DECIDES), _numbers(records.timestamps, count, NOW)
        produce = self._client.produce
        for value, key, partition, time, header in zip(values, keys, chosen, times, headers, strict=True):
            record = {"value": value, "key": key, "partition": partition, "timestamp": time, "headers": header}
            try:
                produce(topic, **record)
            except BufferError:
                self._wait_and_produce(topic, **record)

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
                f"{failed} of {self.records} records handed to the client so far were not delivered; the first, "
                f"{first}{f' ({said})' if said else ''}. The task fails, and Spark writes its rows again when it is "
                f"tried again"
            )


def _numbers(array: pa.Array | None, count: int, null: int) -> Iterable[int]:
    """The numbers of a column, or ``null`` where it has none, as for all records when there is no column."""
    if array is None:
        return repeat(null, count)
    numbers: list[int] = array.fill_null(null).to_numpy().tolist()
    return numbers


@contextmanager
def _record_errors(topic: str) -> Iterator[None]:
    # What the client says of one record is the record's fault, not the cluster's
    try:
        yield
    except KafkaException as error:
        if kafka_error(error).code() != KafkaError.MSG_SIZE_TOO_LARGE:
            raise
        raise MessageError(
            f"a record for topic {topic!r} is larger than the client accepts: {kafka_error(error).str()}. Raise "
            f"'properties.max.request.size', and the topic's max.message.bytes with it"
        ) from error
