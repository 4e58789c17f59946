"""The stages of a write: build records, choose their partitions, produce them, and commit what tasks have written."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.contracts import Partitioner
from millrace.errors import LedgerError
from millrace.gc_control import garbage_collection_paused
from millrace.kafka.producer import KafkaProducer, producer_for
from millrace.records.producer_records import ProducerRecords
from millrace.sink.committer.completed_batches import CompletedRun, completed_run, note_completed_run
from millrace.sink.committer.exactly_once import LOOKUPS, CommitLookups, write_exactly_once
from millrace.sink.committer.ledger_store import one_prefix_for_two_writes
from millrace.sink.committer.orphaned_ledgers import check_first_batch
from millrace.sink.committer.producer_sessions import TransactionSessions
from millrace.sink.committer.query_registration import register_query
from millrace.sink.committer.read_back import CommittedRecords
from millrace.sink.committer.record_digest import RecordDigest
from millrace.sink.committer.shared_sessions import SharedSessions
from millrace.sink.committer.successor import SUCCESSOR_TIMEOUT_S
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.sink.writer.partition import choose_partitions
from millrace.sink.writer.produce import RecordWriter
from millrace.sink.writer.record_builder import record_builder_for
from millrace.sink.writer.upsert_record_builder import UpsertRecordBuilder
from millrace.worker import RESOURCES, WorkerResources


def write(
    config: SinkConfig,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    task: WriteTask,
    *,
    resources: WorkerResources = RESOURCES,
    successor_timeout_s: float = SUCCESSOR_TIMEOUT_S,
    lookups: CommitLookups = LOOKUPS,
) -> WriteResult:
    """Write the rows of one task with the delivery guarantee that the user asked for; on an executor.

    Args:
        config: The sink's configuration.
        schema: The rows' columns.
        batches: The rows.
        task: The task.
        resources: Keeps the worker's producers.
        successor_timeout_s: As `write_exactly_once`.
        lookups: As `write_exactly_once`.

    Raises:
        MessageError: A row cannot be encoded, or a partition does not exist.
        DeliveryError: Records could not be delivered.
        FencedError, LedgerError: As `write_exactly_once`.
    """
    started = time.monotonic()
    # As before a read: other queries may have left clients
    resources.begin_task()
    if config.options.is_exactly_once:
        shared = SharedSessions(resources)
        write_here = functools.partial(
            _write_exactly_once, resources=resources, successor_timeout_s=successor_timeout_s, lookups=lookups
        )
        written, rows = shared.write(config, schema, task, batches)
        result = written or write_here(config, schema, task, rows)
        shared.offer(config, task, write_here)
    else:
        producer = producer_for(
            config.client,
            idempotent=config.options.waits_for_brokers,
            in_batches=not record_builder_for(config, schema).has_headers_or_timestamps,
            resources=resources,
        )
        result = _produce_rows(config, schema, task, producer, batches)
    return dataclasses.replace(result, duration_ms=int((time.monotonic() - started) * 1000))


def _write_exactly_once(
    config: SinkConfig,
    schema: pa.Schema,
    task: WriteTask,
    batches: Iterable[pa.RecordBatch],
    *,
    resources: WorkerResources,
    successor_timeout_s: float,
    lookups: CommitLookups,
) -> WriteResult:
    return write_exactly_once(
        config,
        task,
        batches,
        functools.partial(_produce_or_digest, config, schema, task),
        sessions=TransactionSessions(resources),
        successor_timeout_s=successor_timeout_s,
        lookups=lookups,
        resources=resources,
    )


def _produce_or_digest(
    config: SinkConfig,
    schema: pa.Schema,
    task: WriteTask,
    producer: KafkaProducer | None,
    batches: Iterable[pa.RecordBatch],
    already: CommittedRecords | None = None,
) -> WriteResult:
    if producer is not None:
        return _produce_rows(config, schema, task, producer, batches, already)
    incoming, digest = _CountedRows(batches), RecordDigest()
    with garbage_collection_paused():
        for records in _build_records(config, schema, incoming):
            digest.add(records)
    return WriteResult(incoming.count, digest=str(digest))


def _produce_rows(
    config: SinkConfig,
    schema: pa.Schema,
    task: WriteTask,
    producer: KafkaProducer,
    batches: Iterable[pa.RecordBatch],
    already: CommittedRecords | None = None,
) -> WriteResult:
    incoming = _CountedRows(batches)
    partitioner: Partitioner = config.partitioner.create()
    partitioner.open(task.index, task.count)
    writer = RecordWriter(producer)
    is_measured = config.options.is_measured or task.is_measured
    digest = RecordDigest() if config.options.is_digested else None
    size = 0
    with garbage_collection_paused():
        for built in _build_records(config, schema, incoming):
            records = built if already is None else already.missing(built)
            count = producer.partition_count(records.topic)
            partitions = choose_partitions(partitioner, config.partitioner.name, records, count)
            writer.write(records, partitions)
            if digest is not None:
                digest.add(built)
            if is_measured:
                size += records.size
    if config.options.waits_for_brokers:
        writer.flush()
    else:
        writer.count_failures()
    client, statistics = producer.statistics.latest()
    return WriteResult(
        incoming.count,
        writer.records,
        size,
        send_errors=writer.failed,
        send_ms=writer.send_ms,
        producer=client,
        statistics=statistics,
        digest="" if digest is None else str(digest),
    )


_MAX_BATCH_BYTES = 128 * 2**20
"""The size above which a batch is divided: its payloads may be several times larger, and columns of Arrow have at most
2 GiB."""


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    count = max(1, math.ceil(batch.nbytes / _MAX_BATCH_BYTES))
    rows = math.ceil(batch.num_rows / count)
    return (batch.slice(first, rows) for first in range(0, batch.num_rows, rows or 1))


class _CountedRows:
    """Batches of rows, which are counted on their way, in parts where they are very large."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self.count = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            self.count += batch.num_rows
            yield from _parts(batch)


def _build_records(
    config: SinkConfig, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[ProducerRecords]:
    builder = record_builder_for(config, schema)
    if not config.options.is_upsert:
        for batch in batches:
            yield from builder.build(batch)
        return
    upserts = UpsertRecordBuilder(builder, config.options, schema)
    for batch in batches:
        yield from upserts.build(batch)
    yield from upserts.finish()


def commit_micro_batch(
    config: SinkConfig, query: str, run: str, batch: int, results: Mapping[int, WriteResult], write: str = ""
) -> None:
    """Complete a micro-batch all tasks of which have written; on the driver.

    Args:
        config: The sink's configuration.
        query: The streaming query.
        run: Its run.
        batch: The micro-batch.
        results: The results of its tasks that are known, by their indexes.
        write: The id of a batch write inside foreachBatch; empty for a streaming write.

    Raises:
        LedgerError: Tasks that have no rows of the micro-batch any more have written some before, or another write of
            the foreachBatch callback has the same prefix.
        ClientError: The brokers refuse, or do not answer.
    """
    if not config.options.is_exactly_once:
        return
    if write:
        _check_single_write(config, run, batch, write)
    writers = [index for index, result in results.items() if result.rows or result.is_skipped]
    check_first_batch(config, query, run, batch, writers)
    register_query(config, query, run, batch)
    if write:
        note_completed_run(config, CompletedRun(run, batch, time.time(), write))


def _check_single_write(config: SinkConfig, run: str, batch: int, write: str) -> None:
    # Their tasks notice it by their ledgers, unless each has rows in one of the two writes only
    completed = completed_run(config)
    if completed is not None and (completed.run, completed.batch) == (run, batch) and completed.write != write:
        raise LedgerError(one_prefix_for_two_writes(config, batch))
