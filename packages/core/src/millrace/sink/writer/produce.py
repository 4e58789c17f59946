"""Producing: from records to Kafka."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

import pyarrow as pa

from millrace.kafka.delivery import Delivery, record_errors
from millrace.kafka.errors import client_errors
from millrace.records.record_columns import Records

CLIENT_DECIDES = -1
NOW = 0


class Output(Delivery):
    """Writes the records of one task, many at a time."""

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
        with client_errors(f"writing to topic {records.topic!r}"), record_errors(records.topic):
            if records.is_values_only and partitions is None:
                self._send_values(records.topic, records.values.to_list())
            else:
                self._send_full(records, partitions)
        self.check()

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


def _numbers(array: pa.Array | None, count: int, null: int) -> Iterable[int]:
    """The numbers of a column, or ``null`` where it has none, as for all records when there is no column."""
    if array is None:
        return repeat(null, count)
    numbers: list[int] = array.fill_null(null).to_numpy().tolist()
    return numbers
