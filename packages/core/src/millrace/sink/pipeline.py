"""The stages of a write task: build records, choose their partitions, produce them, commit."""

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
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.sink.writer.partition import choose_partitions
from millrace.sink.writer.produce import RecordWriter
from millrace.sink.writer.record_builder import record_builder_for


def write(config: SinkConfig, schema: pa.Schema, batches: Iterable[pa.RecordBatch], task: WriteTask) -> WriteResult:
    """Write the rows of one task, with the delivery guarantee that the user asked for.

    Args:
        config: How to write.
        schema: The rows' columns.
        batches: The rows.
        task: The task.

    Raises:
        MessageError: A row cannot be encoded, or a partition does not exist.
        DeliveryError: Records could not be delivered.
        FencedError, LedgerError: As `write_exactly_once`.
    """
    started = time.monotonic()
    if config.options.is_exactly_once:
        result = write_exactly_once(config, task, batches, functools.partial(_produce_rows, config, schema, task))
    else:
        producer = producer_for(config.client, idempotent=config.options.waits_for_brokers)
        result = _produce_rows(config, schema, task, producer, batches)
    if config.options.is_measured:
        poll_all()
    return dataclasses.replace(result, duration_ms=int((time.monotonic() - started) * 1000))


def _produce_rows(
    config: SinkConfig, schema: pa.Schema, task: WriteTask, producer: WatchedProducer, batches: Iterable[pa.RecordBatch]
) -> WriteResult:
    builder = record_builder_for(config, schema)
    partitioner: Partitioner = config.partitioner.create()
    partitioner.open(task.index, task.count)
    writer = RecordWriter(producer)
    is_measured = config.options.is_measured
    rows = size = 0
    with no_garbage_collection():
        for batch in batches:
            rows += batch.num_rows
            for records in builder.build(batch):
                count = producer.partition_count(records.topic)
                partitions = choose_partitions(partitioner, config.partitioner.name, records, count)
                writer.write(records, partitions)
                if is_measured:
                    size += records.size
    if config.options.waits_for_brokers:
        writer.finish()
    else:
        writer.leave()
    client, statistics = producer.statistics.newest()
    return WriteResult(
        rows,
        writer.records,
        size,
        send_errors=writer.failed,
        send_ms=writer.send_ms,
        producer=client,
        statistics=statistics,
    )
