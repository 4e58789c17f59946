"""Hand records to the Kafka producer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from millrace.kafka.batch_client import BatchClient, MessageArray
from millrace.kafka.delivery import FLUSH_INTERVAL_S, Delivery, record_errors
from millrace.kafka.errors import client_errors, kafka_error
from millrace.kafka.producer import KafkaProducer
from millrace.kafka.sticky_partitioner import StickyPartitioner
from millrace.records.producer_records import ProducerRecords

CLIENT_CHOOSES = -1
TIME_OF_WRITING = 0


class RecordWriter(Delivery):
    """Write the records of one task, a batch at a time.

    Args:
        producer: The worker's producer.
        flush_interval_s: See `Delivery`.
    """

    def __init__(self, producer: KafkaProducer, *, flush_interval_s: float = FLUSH_INTERVAL_S) -> None:
        super().__init__(producer, flush_interval_s=flush_interval_s)
        # Small tasks, too, use all partitions
        producer.close_batches()

    def write(self, records: ProducerRecords, partitions: pa.Int32Array | None) -> None:
        """Hand records to the producer, waiting while its queue is full.

        Args:
            records: The records.
            partitions: The partition of each, null where the producer chooses; None when it chooses for all.

        Raises:
            DeliveryError: Records handed over earlier could not be delivered.
            MessageError: A record is larger than the client accepts.
        """
        self.records += len(records)
        with client_errors(f"writing to topic {records.topic!r}"), record_errors(records.topic):
            if isinstance(self._client, BatchClient):
                self._produce_batch(self._client, records, partitions)
            elif records.is_values_only and partitions is None:
                self._produce_values(records.topic, records.values.to_list())
            else:
                self._produce_records(records, partitions)
        self.check()

    def _produce_batch(self, client: BatchClient, records: ProducerRecords, partitions: pa.Int32Array | None) -> None:
        topic, keys = records.topic, _keys(records)
        messages = MessageArray(records.values.to_array(), keys, partitions)
        has_no_partitions = keys is None and partitions is None
        produced, waited_at, pushes = 0, 0, self._pushes()
        while produced < len(messages):
            partitioner = self._producer.sticky_partitioner(topic) if has_no_partitions else None
            if partitioner is None:
                stop, reached = len(messages), client.produce_batch(topic, messages, produced)
            else:
                stop, reached = self._produce_run(client, topic, messages, produced, partitioner)
            if reached < stop:
                if reached > waited_at:
                    waited_at, pushes = reached, self._pushes()
                self._wait_for_room(pushes)
            produced = reached

    def _produce_run(
        self, client: BatchClient, topic: str, messages: MessageArray, first: int, partitioner: StickyPartitioner
    ) -> tuple[int, int]:
        """Produce records without a key to one partition, until its batch or the queue is full.

        Returns:
            The index after the last record that fits the batch, and the index of the first one that is left.
        """
        offsets = messages.value_offsets
        partition, stop = partitioner.next_run(offsets, first)
        try:
            reached = client.produce_batch(topic, messages, first, stop, partition)
        except KafkaException as error:
            if kafka_error(error).code() != KafkaError._UNKNOWN_PARTITION:
                raise
            # The topic was recreated with fewer partitions: the client, which has noticed it, chooses from them
            self._producer.forget_partitions(topic)
            return first, first
        partitioner.add(reached - first, int(offsets[reached]) - int(offsets[first]))
        return stop, reached

    def _produce_values(self, topic: str, values: Sequence[bytes | None]) -> None:
        produce = self._client.produce
        for value in values:
            try:
                produce(topic, value)
            except BufferError:
                self._wait_and_produce(topic, value=value)

    def _produce_records(self, records: ProducerRecords, partitions: pa.Int32Array | None) -> None:
        topic, count = records.topic, len(records)
        values = records.values.to_list()
        keys = repeat(None, count) if records.keys is None else records.keys.to_list()
        headers = repeat([], count) if records.headers is None else records.headers
        numbers = _integers(partitions, count, CLIENT_CHOOSES)
        timestamps = _integers(records.timestamps, count, TIME_OF_WRITING)
        produce = self._client.produce
        for value, key, partition, timestamp, header in zip(values, keys, numbers, timestamps, headers, strict=True):
            record = {"value": value, "key": key, "partition": partition, "timestamp": timestamp, "headers": header}
            try:
                produce(topic, **record)
            except BufferError:
                self._wait_and_produce(topic, **record)


def _keys(records: ProducerRecords) -> pa.BinaryArray | None:
    keys = None if records.keys is None else records.keys.to_array()
    return None if keys is None or keys.null_count == len(keys) else keys


def _integers(array: pa.Array | None, count: int, default: int) -> Iterable[int]:
    """Convert a column to integers, with a default for nulls, or for all records when there is no column."""
    if array is None:
        return repeat(default, count)
    integers: list[int] = array.fill_null(default).to_numpy().tolist()
    return integers
