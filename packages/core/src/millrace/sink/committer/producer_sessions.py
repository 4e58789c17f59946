"""Sessions of transactional producers, which a worker keeps from task to task."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from confluent_kafka import TopicPartition as ClientPartition

from millrace.configuration import SinkConfig
from millrace.errors import ClientError, FencedError, LedgerError
from millrace.kafka.offset_metadata import for_group
from millrace.kafka.retry import STUCK_CALLS
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.sink.committer.ledger import Ledger
from millrace.sink.committer.ledger_store import (
    LedgerReader,
    ledger_group,
    ledger_offset,
    proof_group,
    read_ledger,
    transactional_id,
)
from millrace.sink.committer.spare_producers import SPARES, SpareClients
from millrace.sink.write_task import WriteTask
from millrace.worker import CLIENT_MAX_IDLE_S, RESOURCES, ResourceKind, WorkerResources

logger = logging.getLogger("millrace.sink")


@dataclass
class TransactionSession:
    """A transactional producer that owns its transactional id until it is fenced, and the ledger of that id.

    Attributes:
        producer: The producer.
        group: The metadata of the ledger's consumer group.
        ledger: The ledger of the id; None before the first write.
        offset: The offset that the ledger was committed with.
        is_new: Whether it was opened for this task.
        reader: The client that has read the ledger, where other workers take the id over between the tasks of this one,
            or brokers can lose the ledger; else None.
    """

    producer: TransactionalProducer
    group: bytes
    ledger: Ledger | None
    offset: int = 0
    is_new: bool = True
    reader: LedgerReader | None = None

    def commit(self, config: SinkConfig, ledger: Ledger, offset: int) -> None:
        """Commit the transaction with the new ledger, and once more if the brokers lose it meanwhile.

        Raises:
            FencedError, ClientError: As `TransactionalProducer.commit_transaction`.
        """
        offsets = {self.group: ledger_offset(config, ledger, offset)}
        self.producer.commit_transaction(offsets)
        self.ledger, self.offset = ledger, offset
        if config.can_lose_ledgers and self.reader is not None:
            self._restore_ledger(config, self.reader, offsets)

    def _restore_ledger(
        self, config: SinkConfig, reader: LedgerReader, offsets: Mapping[bytes, ClientPartition]
    ) -> None:
        transactional_id, problem = self.producer.transactional_id, "each time, they had lost it"
        try:
            for _ in range(_RESTORE_ATTEMPTS):
                if reader.read(lambda group: _end_open_offset(config, self.producer, group))[0] == self.ledger:
                    return
                logger.warning("the brokers have lost the ledger of transactional id %r: once more", transactional_id)
                self.producer.begin_transaction()
                self.producer.commit_transaction(offsets)
        except FencedError:
            raise
        except (ClientError, LedgerError) as error:
            problem = str(error)
        # The records are committed: an attempt that followed a failure would write them again
        logger.warning(
            "transactional id %r has committed, but whether the brokers keep its ledger is not known (%s): if the task "
            "is repeated now, its rows may be written twice",
            transactional_id,
            problem,
        )


# Several, since Spark gives tasks to workers in no fixed order
SESSIONS = ResourceKind[TransactionSession](
    "transactional producer",
    capacity=8,
    poll=lambda session: session.producer.poll(),
    max_idle_s=CLIENT_MAX_IDLE_S,
)

CONTESTED = ResourceKind[int]("contested transactional id", capacity=64)
"""The number of tasks for which no session of a transactional id is kept: one was replaced, as the next would be."""

_RESTORE_ATTEMPTS = 5

_CONTESTED_TASKS = 16
"""Tasks after which a worker tries again: rows that were too many to be shared may have become few."""


class TransactionSessions:
    """The sessions that a worker keeps.

    Args:
        resources: Keeps them.
    """

    def __init__(self, resources: WorkerResources = RESOURCES) -> None:
        self._resources = resources

    def __len__(self) -> int:
        return len(self._resources.items(SESSIONS))

    def open(self, config: SinkConfig, task: WriteTask) -> TransactionSession:
        """Open the session of a task, and begin a transaction.

        Raises:
            FencedError: Another producer has taken over the transactional id meanwhile.
            LedgerError: The task's consumer group holds something else than a ledger.
            ClientError: The brokers refuse, or do not answer.
        """
        key = session_key(config, task)
        session = None if self._is_contested(key) else self._reopen(config, task)
        if session is not None:
            return session
        # Reopening may just have shown it
        if self._is_contested(key) or config.can_lose_ledgers:
            session = _take_over_by(config, task.index, self._resources.take(SPARES, key))
        else:
            session = take_over(config, task.index)
        session.producer.begin_transaction()
        return session

    def keep(self, config: SinkConfig, task: WriteTask, session: TransactionSession) -> None:
        """Keep a session whose transaction has ended; where others take its id over, clients for the next one.

        One whose producer may have requests on their way is dropped: the next task takes the id over, and brokers
        refuse what arrives after that.
        """
        key, is_kept = session_key(config, task), session.producer.may_be_kept
        if session.reader is not None and self._stays_contested(key):
            self._resources.put(SPARES, key, SpareClients(config, session.producer, session.reader))
            return
        if session.reader is not None and not (is_kept and config.can_lose_ledgers):
            session.reader.close()
            session = dataclasses.replace(session, reader=None)
        if is_kept:
            self._resources.put(SESSIONS, key, session)

    def has(self, config: SinkConfig, task: WriteTask) -> bool:
        """Return whether this worker keeps the session of a task, and is not using it."""
        return session_key(config, task) in self._resources.items(SESSIONS)

    def give_up(self, config: SinkConfig, task: WriteTask) -> None:
        """Forget the session of a task, whose transactional id another worker takes over."""
        key = session_key(config, task)
        self._resources.put(CONTESTED, key, _CONTESTED_TASKS)
        self._resources.take(SESSIONS, key)

    def committed_ledger(self, config: SinkConfig, task: WriteTask) -> Ledger | None:
        """Read the ledger of a task whose transactional id another producer has taken over.

        Raises:
            LedgerError, ClientError: As `read_ledger`.
        """
        # What is committed by now: a successor may have its transaction open for long
        ledger, _ = read_ledger(config, ledger_group(config, task.index), is_final=False)
        return ledger

    def clear(self) -> None:
        """Forget all sessions and spare producers."""
        self._resources.drop(SESSIONS)
        for spare in self._resources.items(SPARES).values():
            spare.close()
        self._resources.drop(SPARES)

    def _is_contested(self, key: Hashable) -> bool:
        return key in self._resources.items(CONTESTED)

    def _stays_contested(self, key: Hashable) -> bool:
        tasks = (self._resources.take(CONTESTED, key) or 0) - 1
        if tasks > 0:
            self._resources.put(CONTESTED, key, tasks)
        return tasks > 0

    def _reopen(self, config: SinkConfig, task: WriteTask) -> TransactionSession | None:
        session = self._resources.take(SESSIONS, session_key(config, task))
        if session is None or session.ledger is None or not session.producer.may_be_kept:
            return None
        try:
            session.producer.begin_transaction()
            # Shows whether another worker has had the task meanwhile, before rows are taken from Spark, which gives
            # them once
            group = for_group(session.group, ledger_group(config, task.index), proof_group(config, task.index))
            session.producer.send_offset(group, ledger_offset(config, session.ledger, session.offset))
        except ClientError as error:
            if STUCK_CALLS.are_too_many:
                # Spark ends the process of a task that fails, and with it what is stuck; the next attempt has a new one
                raise
            logger.debug("a transactional producer is not used any more: %s", error)
            if isinstance(error, FencedError):
                self._resources.put(CONTESTED, session_key(config, task), _CONTESTED_TASKS)
            return None
        return dataclasses.replace(session, is_new=False)


def session_key(config: SinkConfig, task: WriteTask) -> tuple[SinkConfig, str, str]:
    """Return what identifies the session of a task in its worker."""
    # A run that follows in the same worker reads its ledger again: the query may have changed
    return config, transactional_id(config, task.index), task.run


def take_over(config: SinkConfig, task_index: int) -> TransactionSession:
    """Take over the transactional id of a task, which ends the transaction that its owner has open, if any.

    Returns:
        A session with the task's final ledger; its transaction has not begun.

    Raises:
        LedgerError, ClientError: As `TransactionSessions.open`.
    """
    session = _take_over_by(config, task_index)
    if session.reader is not None:
        session.reader.close()
    return dataclasses.replace(session, reader=None)


def _take_over_by(config: SinkConfig, task_index: int, spare: SpareClients | None = None) -> TransactionSession:
    """Take over the transactional id of a task, by clients that are connected already if there are any."""
    connected, reader = spare.take() if spare is not None else (None, None)
    producer = connected or TransactionalProducer(config.client, transactional_id(config, task_index))
    producer.init_transactions()

    def end_open_offset(group: bytes) -> None:
        nonlocal producer
        _end_open_offset(config, producer, group)
        # That was its only one: see `TransactionalProducer.may_be_kept`
        producer = TransactionalProducer(config.client, producer.transactional_id)
        producer.init_transactions()

    # Only now: what an older attempt had under way is either committed or aborted
    reader = reader or LedgerReader(config, ledger_group(config, task_index))
    ledger, group = reader.read(end_open_offset)
    return TransactionSession(producer, group, ledger, reader=reader)


def _end_open_offset(config: SinkConfig, producer: TransactionalProducer, group: bytes) -> None:
    logger.warning("ending an open offset of the ledger of transactional id %r", producer.transactional_id)
    producer.begin_transaction()
    producer.send_offset(group, ledger_offset(config, Ledger(), 0))
    producer.abort_transaction()
