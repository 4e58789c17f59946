"""The way of a row through an executor: encode, partition, produce."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Iterable

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.contracts import Partitioner
from millrace.gc_control import no_garbage_collection
from millrace.kafka.producer import WatchedProducer, poll_all, producer_for
from millrace.sink.committer.exactly_once import write_exactly_once
from millrace.sink.write_task import WriteTask, Written
from millrace.sink.writer.encode import encode_for
from millrace.sink.writer.partition import choose_partitions
from millrace.sink.writer.produce import Output


def write(config: SinkConfig, schema: pa.Schema, batches: Iterable[pa.RecordBatch], task: WriteTask) -> Written:
    """Write the rows of one task.

    Args:
        config: How to write.
        schema: The rows' columns.
        batches: The rows.
        task: Which task this is.

    Raises:
        MessageError: A row cannot be encoded, or a partition does not exist.
        DeliveryError: Records could not be delivered.
        FencedError, LedgerError: As `write_exactly_once`.
    """
    began = time.monotonic()
    if config.options.is_exactly_once:
        written = write_exactly_once(config, task, batches, functools.partial(_send, config, schema, task))
    else:
        producer = producer_for(config.client, idempotent=config.options.waits_for_brokers)
        written = _send(config, schema, task, producer, batches)
    if config.options.is_measured:
        poll_all()
    return dataclasses.replace(written, duration_ms=int((time.monotonic() - began) * 1000))


def _send(
    config: SinkConfig, schema: pa.Schema, task: WriteTask, producer: WatchedProducer, batches: Iterable[pa.RecordBatch]
) -> Written:
    encode = encode_for(config, schema)
    partitioner: Partitioner = config.partitioner.create()
    partitioner.open(task.index, task.count)
    output = Output(producer)
    is_measured = config.options.is_measured
    name = config.partitioner.name
    rows = size = 0
    with no_garbage_collection():
        for batch in batches:
            rows += batch.num_rows
            for records in encode(batch):
                count = producer.partition_count(records.topic)
                output.send(records, choose_partitions(partitioner, name, records, count))
                if is_measured:
                    size += records.size
    if config.options.waits_for_brokers:
        output.finish()
    else:
        output.leave()
    client, statistics = producer.statistics.newest()
    return Written(
        rows,
        output.records,
        size,
        send_errors=output.failed,
        send_ms=output.send_ms,
        producer=client,
        statistics=statistics,
    )
