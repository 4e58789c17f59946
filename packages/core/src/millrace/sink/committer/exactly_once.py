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
from millrace.kafka.retry import poll
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.sink.committer.ledger import Ledger, LedgerEntry, WriteDecision, decide
from millrace.sink.committer.ledger_store import ledger_offset
from millrace.sink.committer.query_registration import is_registered
from millrace.sink.committer.transaction_session import TransactionSession, TransactionSessions
from millrace.sink.write_task import WriteResult, WriteTask

logger = logging.getLogger("millrace.sink")

SUCCESSOR_TIMEOUT_S = 10.0
"""An attempt that was fenced waits this long for its successor to commit."""

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
        successor_timeout_s: How long to wait for an attempt that has replaced this one, in seconds.

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
            decision = _decide(config, task, session)
            if decision is WriteDecision.SKIP:
                # 3. By the ledger the rows are written: end the transaction without them
                result = _skip(config, task, session, rows)
                session.producer.abort_transaction()
            elif decision is WriteDecision.SKIP_IN_DOUBT:
                # 4. Commit the ledger alone, so that the next micro-batch is not in doubt too
                _commit(config, task, session, sum(batch.num_rows for batch in rows))
                result = WriteResult(is_skipped=True, is_new=session.is_new)
            else:
                # 5. Produce the rows, and commit them together with the ledger that says so
                result = produce_rows(session.producer, rows)
                _commit(config, task, session, result.rows)
                result = dataclasses.replace(result, is_new=session.is_new)
        except BaseException:
            # 6. Abort at once: until then readers see nothing of what comes after the transaction
            _abort(session.producer)
            raise
    except FencedError:
        # 7. A newer attempt of the task has fenced this one: its commit counts, as that of a speculative attempt
        if not _successor_commits(config, task, sessions, successor_timeout_s):
            raise
        return WriteResult(is_skipped=True, is_new=True)
    # 8. Keep the producer for the task's next micro-batch
    sessions.keep(config, task, session)
    return result


def _rows_unless_empty(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch] | None:
    remaining = iter(batches)
    first = next((batch for batch in remaining if batch.num_rows), None)
    return None if first is None else chain([first], remaining)


def _decide(config: SinkConfig, task: WriteTask, session: TransactionSession) -> WriteDecision:
    """Decide by the ledger or, where that does not tell, by the user's option."""
    ledger, policy = session.ledger, config.options.if_in_doubt
    try:
        decision = decide(
            ledger, task.query, task.batch, time.time(), functools.partial(is_registered, config, task.query)
        )
    except (FencedError, LedgerError) as error:
        described = f"exactly-once by transactional id {session.producer.transactional_id!r}: {error}"
        if isinstance(error, FencedError) or policy == "fail":
            raise type(error)(described) from None
        logger.warning("%s. It is %s now", described, "written" if policy == "write" else "skipped")
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


def _skip(
    config: SinkConfig, task: WriteTask, session: TransactionSession, batches: Iterator[pa.RecordBatch]
) -> WriteResult:
    """Count the rows to skip, which must be as many as were written.

    Raises:
        LedgerError: They are not, unless the user's option accepts it.
    """
    rows = sum(batch.num_rows for batch in batches)
    entry = session.ledger.entry(task.query) if session.ledger else None
    if entry and entry.batch == task.batch and entry.rows != rows and config.options.if_in_doubt == "fail":
        raise LedgerError(
            f"exactly-once by transactional id {session.producer.transactional_id!r}: micro-batch {task.batch} was "
            f"written with {entry.rows} rows by this task before, and is repeated with {rows}. The query, its number "
            f"of tasks or its input has changed while the micro-batch was unfinished. Start it once as it was before; "
            f"or leave out the rows of this task by 'sink.exactly-once.if-in-doubt' = 'skip'"
        )
    return WriteResult(is_skipped=True, is_new=session.is_new)


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
    def has_committed() -> bool:
        try:
            ledger = sessions.committed_ledger(config, task)
        except ClientError:
            return False
        return ledger is not None and ledger.has_written(task.query, task.batch)

    return poll(has_committed, timeout_s=timeout_s)
