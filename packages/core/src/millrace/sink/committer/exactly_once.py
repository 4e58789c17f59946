"""Exactly-once: one transaction for each task and micro-batch, with the task's ledger inside it."""

from __future__ import annotations

import dataclasses
import functools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.errors import ClientError, FencedError, LedgerError
from millrace.kafka.transactional_producer import TransactionalProducer, group_metadata, note, read_note
from millrace.sink.committer.ledger import LEDGER_TOPIC, Entry, Ledger, Verdict, judge
from millrace.sink.write_task import WriteResult, WriteTask

logger = logging.getLogger("millrace.sink")

KEPT = 8
"""How many transactional producers a worker keeps: Spark gives tasks to workers in no fixed order."""

SUCCESSOR_S = 10.0
"""How long an attempt that was replaced waits for its successor to commit."""

KNOWN_FOR_S = 3600.0
"""How often a query notes in its prefix's own group that it writes."""

_PAUSE_S = 0.2


@dataclass
class _Session:
    """A transactional producer that is in charge of its id, as long as it is not fenced.

    Attributes:
        producer: The producer.
        group: The metadata of the consumer group that keeps the ledger.
        ledger: What the task has written; None before anything.
        offset: The offset that the ledger stands beside.
        known_until: Until when, on the monotonic clock, the prefix's own group knows the query.
        is_new: Whether it was made for this task.
    """

    producer: TransactionalProducer
    group: bytes
    ledger: Ledger | None
    offset: int = 0
    known_until: float = 0.0
    is_new: bool = True


_Key = tuple[SinkConfig, str, str]

_sessions: OrderedDict[_Key, _Session] = OrderedDict()


def write_exactly_once(
    config: SinkConfig,
    task: WriteTask,
    batches: Iterable[pa.RecordBatch],
    send: Callable[[TransactionalProducer, Iterator[pa.RecordBatch]], WriteResult],
) -> WriteResult:
    """Write the rows of a task in one transaction, unless they are written already.

    Args:
        config: How to write.
        task: Which task this is.
        batches: The rows.
        send: Sends rows by a producer, and returns when the brokers have them.

    Raises:
        FencedError: Another producer has the task's transactional id by now.
        LedgerError: It is not known whether the rows are written already, or others were.
        MessageError, DeliveryError, ClientError: As `send`.
    """
    rows = iter(batches)
    first = next((batch for batch in rows if batch.num_rows), None)
    if first is None:
        return WriteResult()
    rows = chain([first], rows)
    transactional_id = f"{config.options.transactional_id_prefix}-{task.index}"
    # A run that follows in the same worker looks into its ledger anew: the query may have changed
    key = config, transactional_id, task.run
    try:
        session = _kept(key) or _new(key)
        try:
            if _is_written(config, task, session):
                written = _skip(config, task, session, rows)
                session.producer.abort()
            else:
                written = _write(config, task, session, send(session.producer, rows))
        except BaseException:
            # At once: until then readers see nothing of what comes after it
            _abort(session.producer)
            raise
    except FencedError:
        if not _successor_commits(config, task, transactional_id):
            raise
        return WriteResult(is_skipped=True, is_new=True)
    _keep(key, session)
    return written


def ledger_topic(config: SinkConfig) -> str:
    """The topic whose partition 0 the ledgers' offsets are committed for."""
    return config.options.topics[0] if config.options.topics else LEDGER_TOPIC


def read_ledger(config: SinkConfig, group: str, *, is_final: bool = True) -> tuple[Ledger | None, bytes]:
    """A ledger, None when there is none; and the metadata of its group.

    Raises:
        LedgerError: The group holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    text, metadata = read_note(config.client, group, ledger_topic(config), is_final=is_final)
    try:
        return Ledger.parse(text) if text is not None else None, metadata
    except LedgerError as error:
        raise LedgerError(f"exactly-once by transactional id {group!r}: {error}") from None


def _kept(key: _Key) -> _Session | None:
    """The session that this worker has kept, its transaction begun; None when another worker had the task since."""
    session = _sessions.pop(key, None)
    if session is None or session.ledger is None:
        return None
    try:
        session.producer.begin()
        # Before rows are taken from Spark, which gives them once
        session.producer.tell(session.group, note(ledger_topic(key[0]), session.offset, session.ledger.to_text()))
    except ClientError as error:
        logger.debug("a transactional producer is not used any more: %s", error)
        return None
    return dataclasses.replace(session, is_new=False)


def _new(key: _Key) -> _Session:
    config, transactional_id, _ = key
    producer = TransactionalProducer(config.client, transactional_id)
    producer.take_over()
    # Only now: what an older attempt had under way is either committed or aborted
    ledger, group = read_ledger(config, transactional_id)
    producer.begin()
    return _Session(producer, group, ledger)


def _keep(key: _Key, session: _Session) -> None:
    _sessions[key] = session
    while len(_sessions) > KEPT:
        _sessions.popitem(last=False)


def _is_written(config: SinkConfig, task: WriteTask, session: _Session) -> bool:
    prefix, ledger = config.options.transactional_id_prefix or "", session.ledger
    in_doubt = config.options.if_in_doubt
    try:
        verdict = judge(
            ledger, task.query, task.batch, time.time(), functools.partial(_is_known, config, task.query, prefix)
        )
    except (FencedError, LedgerError) as error:
        described = f"exactly-once by transactional id {session.producer.transactional_id!r}: {error}"
        if isinstance(error, FencedError) or in_doubt == "fail":
            raise type(error)(described) from None
        logger.warning("%s. It is %s now", described, "written" if in_doubt == "write" else "skipped")
        return in_doubt == "skip"
    if verdict is Verdict.WRITE_ANEW and ledger and task.is_streaming:
        last = ledger.entries[0]
        logger.warning(
            "prefix %r was used by query %s up to micro-batch %d; query %s is another one, and writes from its start",
            prefix,
            last.query,
            last.batch,
            task.query,
        )
    return verdict is Verdict.SKIP


def _is_known(config: SinkConfig, query: str, prefix: str) -> bool:
    # Transactions of other tasks may be under way, which need not be waited for
    ledger, _ = read_ledger(config, prefix, is_final=False)
    return ledger is not None and ledger.of(query) is not None


def _skip(config: SinkConfig, task: WriteTask, session: _Session, batches: Iterator[pa.RecordBatch]) -> WriteResult:
    rows = sum(batch.num_rows for batch in batches)
    mine = session.ledger.of(task.query) if session.ledger else None
    if mine and mine.batch == task.batch and mine.rows != rows and config.options.if_in_doubt == "fail":
        raise LedgerError(
            f"exactly-once by transactional id {session.producer.transactional_id!r}: micro-batch {task.batch} was "
            f"written with {mine.rows} rows by this task before, and is repeated with {rows}. The query, its number of "
            f"tasks or its input has changed while the micro-batch was unfinished. Start it once as it was before; or "
            f"leave out the rows of this task by 'sink.exactly-once.if-in-doubt' = 'skip'"
        )
    return WriteResult(is_skipped=True, is_new=session.is_new)


def _write(config: SinkConfig, task: WriteTask, session: _Session, written: WriteResult) -> WriteResult:
    """Commit what was sent, and that it was."""
    entry = Entry(task.query, task.batch, written.rows, int(time.time()))
    ledger = (session.ledger or Ledger()).with_entry(entry)
    topic, offset = ledger_topic(config), task.batch + 1
    notes = {session.group: note(topic, offset, ledger.to_text())}
    is_due = task.is_streaming and time.monotonic() > session.known_until
    if is_due:
        prefix = config.options.transactional_id_prefix or ""
        notes[group_metadata(config.client, prefix)] = note(topic, offset, Ledger((entry,)).to_text())
    session.producer.commit(notes)
    session.ledger, session.offset = ledger, offset
    if is_due:
        session.known_until = time.monotonic() + KNOWN_FOR_S
    return dataclasses.replace(written, is_new=session.is_new)


def _abort(producer: TransactionalProducer) -> None:
    try:
        producer.abort()
    except FencedError:
        raise
    except ClientError as error:
        logger.warning("%s; the next attempt aborts it", error)


def _successor_commits(config: SinkConfig, task: WriteTask, transactional_id: str) -> bool:
    """Whether the attempt that has replaced this one writes the rows, as a speculative one does."""
    deadline = time.monotonic() + SUCCESSOR_S
    while time.monotonic() < deadline:
        with suppress(ClientError):
            ledger, _ = read_ledger(config, transactional_id)
            mine = ledger.of(task.query) if ledger else None
            if mine and mine.batch == task.batch:
                return True
        time.sleep(_PAUSE_S)
    return False
