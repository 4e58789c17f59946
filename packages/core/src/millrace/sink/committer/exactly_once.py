"""Write exactly once: one transaction for each task and micro-batch, with the task's ledger inside it."""

from __future__ import annotations

import dataclasses
import functools
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.errors import ClientError, FencedError, LedgerError
from millrace.kafka.retry import SYSTEM_CLOCK, Clock
from millrace.kafka.transactional_producer import TransactionalProducer, transaction_timeout_s
from millrace.sink.committer.checkpoint_evidence import check_ledgers_expired
from millrace.sink.committer.heartbeats import heartbeats, last_heartbeat
from millrace.sink.committer.ledger import Ledger, LedgerEntry, WriteDecision, decide
from millrace.sink.committer.ledger_store import one_prefix_for_two_writes
from millrace.sink.committer.producer_sessions import TransactionSession, TransactionSessions
from millrace.sink.committer.query_registration import read_registration
from millrace.sink.committer.read_back import CommittedRecords, read_committed_records
from millrace.sink.committer.repeated_rows import OTHER_DIVISION_ADVICE, check_rows, has_other_rows, other_count
from millrace.sink.committer.successor import SUCCESSOR_TIMEOUT_S, successor_commits
from millrace.sink.committer.unfinished_batches import UnfinishedBatch, await_confirmations, unfinished_batch
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.worker import RESOURCES, WorkerResources

logger = logging.getLogger("millrace.sink")


@dataclass(frozen=True)
class CommitLookups:
    """Look-ups of a commit beside the task's ledger, and its clocks; tests hand in their own.

    Attributes:
        read_registration: Looks up when the brokers last heard of a query.
        last_heartbeat: Looks up the newest heartbeat of any attempt of a task.
        wall_clock: Clock, in seconds since 1970.
        clock: Measures how long to wait for another attempt, and waits.
    """

    read_registration: Callable[[SinkConfig, str], LedgerEntry | None] = read_registration
    last_heartbeat: Callable[[SinkConfig, WriteTask], LedgerEntry | None] = last_heartbeat
    wall_clock: Callable[[], float] = time.time
    clock: Clock = SYSTEM_CLOCK


LOOKUPS = CommitLookups()


class ProduceRows(Protocol):
    """Produce rows, except for records that are there already, and return when the brokers have acknowledged them.

    Without a producer they are only counted and digested.
    """

    def __call__(
        self,
        producer: TransactionalProducer | None,
        batches: Iterator[pa.RecordBatch],
        already: CommittedRecords | None = None,
    ) -> WriteResult:
        """Produce the rows of some batches."""


def write_exactly_once(
    config: SinkConfig,
    task: WriteTask,
    batches: Iterable[pa.RecordBatch],
    produce_rows: ProduceRows,
    *,
    sessions: TransactionSessions,
    successor_timeout_s: float = SUCCESSOR_TIMEOUT_S,
    lookups: CommitLookups = LOOKUPS,
    resources: WorkerResources = RESOURCES,
) -> WriteResult:
    """Write the rows of a task in one transaction, unless they have been written already.

    Args:
        config: The sink's configuration.
        task: The task.
        batches: Its rows.
        produce_rows: Produces them, in the transaction that is under way.
        sessions: The worker's transactional producers.
        successor_timeout_s: How long to wait for a sign of life of an attempt that has replaced this one, in seconds.
        lookups: Look-ups beside the ledger.
        resources: Keep what is known of a micro-batch that may be repeated.

    Raises:
        FencedError: Another producer has taken over the task's transactional id, and has not written the micro-batch.
        LedgerError: The ledger does not tell whether the rows have been written, or others were written before.
        MessageError, DeliveryError, ClientError: As `produce_rows`.
    """
    rows = _rows_unless_empty(batches)
    # 1. Where earlier runs have written some of the micro-batch, let those tasks go first that did
    unfinished = unfinished_batch(config, task, resources)
    if unfinished is not None:
        _check_division(config, task, unfinished, has_rows=rows is not None)
    # 2. A task without rows opens no transaction
    if rows is None:
        return WriteResult()
    try:
        # 3. Take over the transactional id, which fences older attempts, read its ledger, and begin a transaction
        session = sessions.open(config, task)
        try:
            with heartbeats(config, task):
                result = _write_in_transaction(config, task, session, rows, produce_rows, lookups, unfinished)
        except BaseException:
            # 4. Abort at once: until then readers see nothing of what comes after the transaction
            _abort(session.producer)
            raise
    except FencedError:
        # 5. Another attempt of the task has fenced this one: its commit counts, as that of a speculative attempt
        if not _successor_commits(config, task, sessions, lookups, successor_timeout_s):
            raise
        return WriteResult(is_skipped=True, is_new=True)
    # 6. Keep the producer for the task's next micro-batch
    sessions.keep(config, task, session)
    return result


def _write_in_transaction(
    config: SinkConfig,
    task: WriteTask,
    session: TransactionSession,
    rows: Iterator[pa.RecordBatch],
    produce_rows: ProduceRows,
    lookups: CommitLookups,
    unfinished: UnfinishedBatch | None,
) -> WriteResult:
    """End the transaction that is open: with the rows, or without them."""
    began_ms = int(time.time() * 1000)
    decision, policy = _decide(config, task, session, lookups), config.options.if_in_doubt
    skipped = WriteResult(is_skipped=True, is_new=session.is_new)
    if decision is WriteDecision.SKIP_IN_DOUBT:
        # The ledger alone, so that the next micro-batch is not in doubt too
        _commit(config, task, session, WriteResult(_count(rows)), began_ms)
        return skipped
    if policy == "compare" and unfinished is not None and not _has_written_in_run(task, session):
        began_ms = min(began_ms, *(entry.began_ms for entry in unfinished.written.values()))
        already = read_committed_records(config, unfinished.task_count, task.index, began_ms)
        result = produce_rows(session.producer, rows, already)
        _commit(config, task, session, result, began_ms)
        return dataclasses.replace(result, is_new=session.is_new)
    entry = _written_entry(task, session)
    if decision is WriteDecision.SKIP and policy != "write":
        has_digest = entry is not None and entry.digest
        check_rows(config, task, entry, produce_rows(None, rows) if has_digest else WriteResult(_count(rows)))
        _confirm(config, task, session)
        return skipped
    result = produce_rows(session.producer, rows)
    if decision is WriteDecision.SKIP and not has_other_rows(config, task, entry, result):
        # Spark gives rows only once, so they were produced before they could be counted; readers never see them
        session.producer.abort_transaction()
        return skipped
    _commit(config, task, session, result, began_ms)
    return dataclasses.replace(result, is_new=session.is_new)


def _check_division(config: SinkConfig, task: WriteTask, unfinished: UnfinishedBatch, *, has_rows: bool) -> None:
    """Check how the rows of an unfinished micro-batch are divided now, as far as a task can tell before it writes.

    Raises:
        LedgerError: The task has no rows any more, several tasks have rows where one has to have all of them, or two
            writes of a foreachBatch callback have the same prefix.
    """
    policy, entry = config.options.if_in_doubt, unfinished.written.get(task.index)
    if policy == "compare" and task.index > 0 and has_rows:
        raise LedgerError(
            f"'sink.exactly-once.if-in-doubt' = 'compare' needs all rows of micro-batch {task.batch} in one task, "
            f"which compares them with what is written, but task {task.index} has some. Start the query once with "
            f".coalesce(1) before the write"
        )
    if policy != "fail":
        return
    writes = {(task_entry.run, task_entry.write) for task_entry in unfinished.written.values()}
    if len(writes) > len({run for run, _ in writes}):
        raise LedgerError(one_prefix_for_two_writes(config, task.batch))
    if entry is not None and not has_rows:
        raise LedgerError(f"{other_count(config, task, entry.rows, 0)}. {OTHER_DIVISION_ADVICE}")
    if entry is None and has_rows:
        await_confirmations(config, task, unfinished)


def _rows_unless_empty(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch] | None:
    remaining = iter(batches)
    first = next((batch for batch in remaining if batch.num_rows), None)
    return None if first is None else chain([first], remaining)


def _decide(config: SinkConfig, task: WriteTask, session: TransactionSession, lookups: CommitLookups) -> WriteDecision:
    """Decide by the ledger or, where that does not tell, by the user's option."""
    ledger, policy = session.ledger, config.options.if_in_doubt
    _check_write(config, task, ledger)
    try:
        registration = functools.partial(_registration, config, task, lookups)
        planned_at = task.planned.at if task.planned is not None else None
        now, retention_s = lookups.wall_clock(), config.ledger_retention_s
        decision = decide(ledger, task.query, task.batch, now, registration, retention_s, planned_at)
    except (FencedError, LedgerError) as error:
        described = f"exactly-once by transactional id {session.producer.transactional_id!r}: {error}"
        if isinstance(error, FencedError) or policy not in ("skip", "write"):
            raise type(error)(described) from None
        logger.warning(
            "%s. With 'sink.exactly-once.if-in-doubt' = %r it is %s",
            described,
            policy,
            "written" if policy == "write" else "skipped",
        )
        return WriteDecision.SKIP_IN_DOUBT if policy == "skip" else WriteDecision.WRITE
    if decision is WriteDecision.WRITE_AS_NEW_QUERY and ledger and task.is_streaming:
        last = ledger.entries[0]
        logger.warning(
            "prefix %r was used by query %s up to micro-batch %d; query %s is another one, and writes from its start",
            config.options.transactional_id_prefix,
            last.query,
            last.batch,
            task.query,
        )
    return decision


def _check_write(config: SinkConfig, task: WriteTask, ledger: Ledger | None) -> None:
    """Check that no other write of a foreachBatch callback has written the micro-batch with the prefix.

    Raises:
        LedgerError: There was one, whose ledger does not say anything about these rows.
    """
    entry = ledger.entry(task.query) if ledger else None
    if entry and (entry.batch, entry.run) == (task.batch, task.run) and entry.write != task.write:
        raise LedgerError(one_prefix_for_two_writes(config, task.batch))


def _registration(config: SinkConfig, task: WriteTask, lookups: CommitLookups) -> LedgerEntry | None:
    if task.completed_batch is not None and task.completed_batch < task.batch:
        # What follows a completed micro-batch of the same run is written for the first time
        return LedgerEntry(task.query, task.completed_batch, 0, int(time.time()))
    registered, planned = lookups.read_registration(config, task.query), task.planned
    if registered is None and planned is not None and planned.noted_query == task.query:
        # The brokers have forgotten it
        check_ledgers_expired(config, planned, lookups.wall_clock())
        return LedgerEntry(task.query, planned.noted_batch, 0, 0)
    return registered


def _count(batches: Iterator[pa.RecordBatch]) -> int:
    return sum(batch.num_rows for batch in batches)


def _written_entry(task: WriteTask, session: TransactionSession) -> LedgerEntry | None:
    return session.ledger.entry(task.query) if session.ledger else None


def _has_written_in_run(task: WriteTask, session: TransactionSession) -> bool:
    """Return whether an earlier attempt in this run has written the rows of a task."""
    entry = _written_entry(task, session)
    return entry is not None and (entry.batch, entry.run) == (task.batch, task.run)


def _confirm(config: SinkConfig, task: WriteTask, session: TransactionSession) -> None:
    """Commit with the ledger alone that this run has the same rows again, for tasks that wait for that."""
    entry = _written_entry(task, session)
    if entry is None or (entry.run, entry.write) == (task.run, task.write):
        session.producer.abort_transaction()
        return
    _commit_entry(config, session, dataclasses.replace(entry, run=task.run, write=task.write, at=int(time.time())))


def _commit(config: SinkConfig, task: WriteTask, session: TransactionSession, rows: WriteResult, began_ms: int) -> None:
    """Commit the transaction with the task's new ledger."""
    at = int(time.time())
    entry = LedgerEntry(task.query, task.batch, rows.rows, at, task.run, task.write, began_ms, rows.digest)
    _commit_entry(config, session, entry)


def _commit_entry(config: SinkConfig, session: TransactionSession, entry: LedgerEntry) -> None:
    ledger, offset = (session.ledger or Ledger()).with_entry(entry), entry.batch + 1
    session.commit(config, ledger, offset)


def _abort(producer: TransactionalProducer) -> None:
    try:
        producer.abort_transaction()
    except FencedError:
        raise
    except ClientError as error:
        logger.warning("%s; the next attempt aborts it", error)


def _successor_commits(
    config: SinkConfig, task: WriteTask, sessions: TransactionSessions, lookups: CommitLookups, timeout_s: float
) -> bool:
    def has_committed() -> bool:
        # What another run or write has committed may be rows that are divided in another way
        ledger = sessions.committed_ledger(config, task)
        entry = ledger.entry(task.query) if ledger is not None else None
        return entry is not None and (entry.batch, entry.run, entry.write) == (task.batch, task.run, task.write)

    # The brokers abort the transaction of a successor that lives but hangs
    limit_s = max(timeout_s, transaction_timeout_s(config.client))
    heartbeat = functools.partial(lookups.last_heartbeat, config, task)
    return successor_commits(has_committed, heartbeat, timeout_s, limit_s, lookups.clock)
