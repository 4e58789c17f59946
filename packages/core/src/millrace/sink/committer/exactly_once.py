"""Write exactly once: one transaction for each task and micro-batch, with the task's ledger inside it."""

from __future__ import annotations

import dataclasses
import functools
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.errors import ClientError, FencedError, LedgerError
from millrace.kafka.transactional_producer import TransactionalProducer, transaction_timeout_s
from millrace.sink.committer.heartbeats import heartbeats, last_heartbeat
from millrace.sink.committer.ledger import Ledger, LedgerEntry, WriteDecision, decide
from millrace.sink.committer.ledger_store import ledger_offset
from millrace.sink.committer.producer_sessions import TransactionSession, TransactionSessions
from millrace.sink.committer.query_registration import read_registration
from millrace.sink.write_task import WriteResult, WriteTask

logger = logging.getLogger("millrace.sink")

SUCCESSOR_TIMEOUT_S = 10.0
"""An attempt that was fenced waits this long for its successor to commit, or to show that it lives."""

SUCCESSOR_INTERVAL_S = 0.5
"""Pause between its look-ups of what has become of the successor."""

ProduceRows = Callable[[TransactionalProducer, Iterator[pa.RecordBatch]], WriteResult]
"""Produces rows, and returns when the brokers have acknowledged them."""


def write_exactly_once(
    config: SinkConfig,
    task: WriteTask,
    batches: Iterable[pa.RecordBatch],
    produce_rows: ProduceRows,
    *,
    sessions: TransactionSessions,
    successor_timeout_s: float = SUCCESSOR_TIMEOUT_S,
) -> WriteResult:
    """Write the rows of a task in one transaction, unless they have been written already.

    Args:
        config: The sink's configuration.
        task: The task.
        batches: Its rows.
        produce_rows: Produces them, in the transaction that is under way.
        sessions: The worker's transactional producers.
        successor_timeout_s: How long to wait for a sign of life of an attempt that has replaced this one, in seconds.

    Raises:
        FencedError: Another producer has taken over the task's transactional id, and has not written the micro-batch.
        LedgerError: The ledger does not tell whether the rows have been written, or others were written before.
        MessageError, DeliveryError, ClientError: As `produce_rows`.
    """
    # 1. A task without rows opens no transaction
    rows = _rows_unless_empty(batches)
    if rows is None:
        return WriteResult()
    try:
        # 2. Take over the transactional id, which fences older attempts, read its ledger, and begin a transaction
        session = sessions.open(config, task)
        try:
            with heartbeats(config, task):
                result = _write_in_transaction(config, task, session, rows, produce_rows)
        except BaseException:
            # 3. Abort at once: until then readers see nothing of what comes after the transaction
            _abort(session.producer)
            raise
    except FencedError:
        # 4. Another attempt of the task has fenced this one: its commit counts, as that of a speculative attempt
        if not _successor_commits(config, task, sessions, successor_timeout_s):
            raise
        return WriteResult(is_skipped=True, is_new=True)
    # 5. Keep the producer for the task's next micro-batch
    sessions.keep(config, task, session)
    return result


def _write_in_transaction(
    config: SinkConfig,
    task: WriteTask,
    session: TransactionSession,
    rows: Iterator[pa.RecordBatch],
    produce_rows: ProduceRows,
) -> WriteResult:
    """End the transaction that is open: with the rows, or without them."""
    decision, policy = _decide(config, task, session), config.options.if_in_doubt
    skipped = WriteResult(is_skipped=True, is_new=session.is_new)
    if decision is WriteDecision.SKIP_IN_DOUBT:
        # The ledger alone, so that the next micro-batch is not in doubt too
        _commit(config, task, session, _count(rows))
        return skipped
    if decision is WriteDecision.SKIP and policy != "write":
        _check_count(config, task, session, _count(rows))
        session.producer.abort_transaction()
        return skipped
    result = produce_rows(session.producer, rows)
    if decision is WriteDecision.SKIP and not _has_other_count(task, session, result.rows):
        # Spark gives rows once, so that they were produced before their number was known; readers never see them
        session.producer.abort_transaction()
        return skipped
    _commit(config, task, session, result.rows)
    return dataclasses.replace(result, is_new=session.is_new)


def _rows_unless_empty(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch] | None:
    remaining = iter(batches)
    first = next((batch for batch in remaining if batch.num_rows), None)
    return None if first is None else chain([first], remaining)


def _decide(config: SinkConfig, task: WriteTask, session: TransactionSession) -> WriteDecision:
    """Decide by the ledger or, where that does not tell, by the user's option."""
    ledger, policy = session.ledger, config.options.if_in_doubt
    try:
        registration = functools.partial(_registration, config, task)
        decision = decide(ledger, task.query, task.batch, time.time(), registration, config.ledger_retention_s)
    except (FencedError, LedgerError) as error:
        described = f"exactly-once by transactional id {session.producer.transactional_id!r}: {error}"
        if isinstance(error, FencedError) or policy == "fail":
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


def _registration(config: SinkConfig, task: WriteTask) -> LedgerEntry | None:
    if task.completed_batch is not None and task.completed_batch < task.batch:
        # What follows a completed micro-batch of the same run is written for the first time
        return LedgerEntry(task.query, task.completed_batch, 0, int(time.time()))
    return read_registration(config, task.query)


def _count(batches: Iterator[pa.RecordBatch]) -> int:
    return sum(batch.num_rows for batch in batches)


def _check_count(config: SinkConfig, task: WriteTask, session: TransactionSession, rows: int) -> None:
    """Check that as many rows are skipped as were written.

    Raises:
        LedgerError: They are not, unless the user's option accepts it.
    """
    problem = _count_problem(task, session, rows)
    if problem and config.options.if_in_doubt == "fail":
        raise LedgerError(
            f"{problem}. The query, its number of tasks or its input has changed while the micro-batch was unfinished. "
            f"Start it once as it was before; or, by 'sink.exactly-once.if-in-doubt', leave out the rows of this task "
            f"('skip', some may be missing then) or write all of them ('write', some may be in the topic twice then)"
        )
    if problem:
        logger.warning("%s. They are skipped now", problem)


def _has_other_count(task: WriteTask, session: TransactionSession, rows: int) -> bool:
    """Return whether a task had written another number of rows; the user's option then writes all of them."""
    problem = _count_problem(task, session, rows)
    if problem:
        logger.warning("%s. All of them are written now; those that were written before are there twice", problem)
    return problem is not None


def _count_problem(task: WriteTask, session: TransactionSession, rows: int) -> str | None:
    entry = session.ledger.entry(task.query) if session.ledger else None
    if entry is None or entry.rows == rows:
        return None
    return (
        f"exactly-once by transactional id {session.producer.transactional_id!r}: micro-batch {task.batch} was written "
        f"with {entry.rows} rows by this task before, and is repeated with {rows}"
    )


def _commit(config: SinkConfig, task: WriteTask, session: TransactionSession, rows: int) -> None:
    """Commit the transaction with the task's new ledger."""
    entry = LedgerEntry(task.query, task.batch, rows, int(time.time()))
    ledger, offset = (session.ledger or Ledger()).with_entry(entry), task.batch + 1
    session.producer.commit_transaction({session.group: ledger_offset(config, ledger, offset)})
    session.ledger, session.offset = ledger, offset


def _abort(producer: TransactionalProducer) -> None:
    try:
        producer.abort_transaction()
    except FencedError:
        raise
    except ClientError as error:
        logger.warning("%s; the next attempt aborts it", error)


def _successor_commits(config: SinkConfig, task: WriteTask, sessions: TransactionSessions, timeout_s: float) -> bool:
    """Wait while the attempt that has fenced this one lives, and return whether it has committed.

    An attempt that failed instead would be started again, and fence the one that is at work.
    """
    fenced = time.monotonic()
    # The brokers abort the transaction of a successor that lives but hangs
    latest = fenced + max(timeout_s, transaction_timeout_s(config.client))
    deadline, seen = fenced + timeout_s, None
    while True:
        try:
            ledger = sessions.committed_ledger(config, task)
            if ledger is not None and ledger.has_written(task.query, task.batch):
                return True
            heartbeat = last_heartbeat(config, task)
        except ClientError:
            heartbeat = seen
        now = time.monotonic()
        if heartbeat != seen:
            deadline, seen = now + timeout_s, heartbeat
        if now > min(deadline, latest):
            return False
        time.sleep(SUCCESSOR_INTERVAL_S)
