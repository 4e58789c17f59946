"""The way of a row through an executor: encode, partition, produce."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from millrace.collector import no_garbage_collection
from millrace.configuration import SinkConfig
from millrace.contracts import Partitioner
from millrace.kafka.producer import producer_for
from millrace.sink.encode import encode_for
from millrace.sink.partition import choose_partitions
from millrace.sink.produce import Output


@dataclass(frozen=True)
class WriteTask:
    """Which of a write's tasks this is.

    Attributes:
        index: From 0.
        count: How many tasks there are; 0 when Spark does not tell.
    """

    index: int
    count: int


def write(config: SinkConfig, schema: pa.Schema, batches: Iterable[pa.RecordBatch], task: WriteTask) -> int:
    """Write the rows of one task.

    Args:
        config: How to write.
        schema: The rows' columns.
        batches: The rows.
        task: Which task this is.

    Returns:
        How many records were written.

    Raises:
        MessageError: A row cannot be encoded, or a partition does not exist.
        DeliveryError: Records could not be delivered.
    """
    encode = encode_for(config, schema)
    partitioner: Partitioner = config.partitioner.create()
    partitioner.open(task.index, task.count)
    producer = producer_for(config.client, idempotent=config.options.waits_for_brokers)
    output = Output(producer)
    name = config.partitioner.name
    with no_garbage_collection():
        for batch in batches:
            for records in encode(batch):
                count = producer.partition_count(records.topic)
                output.send(records, choose_partitions(partitioner, name, records, count))
    if config.options.waits_for_brokers:
        output.finish()
    return output.records
