"""Sessions of transactional producers that workers of one executor share.

Where Spark gives the tasks of a transactional id to several workers in turn, one of them keeps the session, and the
others send it the rows of their tasks, if these are few. It writes them as if the task were its own, and answers by the
result. A worker keeps the rows until it has the answer. Without one it writes them itself, as it does without a session
to share: it takes the transactional id over, which ends what the other one has under way, and reads in the ledger
whether that had been committed.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from typing import TypeAlias

import pyarrow as pa

from millrace.configuration import SinkConfig
from millrace.errors import MillraceError
from millrace.siblings import IS_SUPPORTED, SiblingListener, ask, call
from millrace.sink.committer.ledger_store import transactional_id
from millrace.sink.committer.producer_sessions import TransactionSessions, session_key
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.worker import RESOURCES, ResourceKind, WorkerResources

logger = logging.getLogger("millrace.sink")

MAX_BYTES = 4 * 1024 * 1024
"""Size of the rows, of one Arrow batch, up to which a task sends them to another worker."""

OFFERS = ResourceKind[SiblingListener]("offer of a transactional producer", capacity=8, close=SiblingListener.close)

SILENT = ResourceKind[bool]("worker that does not answer", capacity=64)
"""The sessions whose worker has once not answered a call, so that no other task waits for it; or cannot be asked."""

WriteRows: TypeAlias = Callable[[SinkConfig, pa.Schema, WriteTask, Iterable[pa.RecordBatch]], WriteResult]
"""Writes the rows of a task exactly once, in this process."""


@dataclass(frozen=True)
class _Request:
    """A request to the worker that offers a session.

    Attributes:
        config: The sink's configuration.
        task: The task.
        schema: The rows' columns.
        rows: The rows, as a stream of Arrow; None to give the session up, since the caller has taken the id over.
    """

    config: SinkConfig
    task: WriteTask
    schema: pa.Schema | None = None
    rows: bytes | None = None


class SharedSessions:
    """The sessions of this worker and its siblings.

    Args:
        resources: Keeps those of this worker.
    """

    def __init__(self, resources: WorkerResources = RESOURCES) -> None:
        self._resources = resources
        self._sessions = TransactionSessions(resources)

    def offer(self, config: SinkConfig, task: WriteTask, write: WriteRows) -> None:
        """Offer the session of a task to other workers, if this one keeps it.

        Args:
            config: The sink's configuration.
            task: The task.
            write: Writes the rows that they send.
        """
        if not (_is_shared(task) and self._sessions.has(config, task)):
            return
        offered = self._resources.items(OFFERS).get(session_key(config, task))
        if offered is not None and offered.is_open:
            return
        try:
            self._listen(config, task, write)
        except OSError:
            # One that was replaced, and does not know it yet
            self._ask(_Request(config, task))
            with suppress(OSError):
                self._listen(config, task, write)

    def _listen(self, config: SinkConfig, task: WriteTask, write: WriteRows) -> None:
        listener = SiblingListener(_name(config, task), _Offer(self._sessions, write).answer)
        self._resources.put(OFFERS, session_key(config, task), listener)

    def write(
        self, config: SinkConfig, schema: pa.Schema, task: WriteTask, batches: Iterable[pa.RecordBatch]
    ) -> tuple[WriteResult | None, Iterable[pa.RecordBatch]]:
        """Let the worker that offers the session of a task write its rows.

        Args:
            config: The sink's configuration.
            schema: The rows' columns.
            task: The task.
            batches: The rows.

        Returns:
            The result; or None, and the rows, which this worker is to write.

        Raises:
            MillraceError: The other worker could not write them.
        """
        if not _is_shared(task) or task.may_be_repeated or self._sessions.has(config, task):
            return None, batches
        few, rows = _few_rows(batches)
        if rows is None:
            return None, ()
        return self._ask(_Request(config, task, schema, few)) if few is not None else None, rows

    def _ask(self, request: _Request) -> WriteResult | None:
        """Ask the worker that offers a session; None where there is none, or it refuses or gives no answer."""
        key = session_key(request.config, request.task)
        if key in self._resources.items(SILENT):
            return None
        try:
            pickled = pickle.dumps(request)
            connection = call(_name(request.config, request.task))
        except (TimeoutError, pickle.PicklingError, AttributeError, TypeError) as error:
            # Also where a plugin's options exist in the program alone that started the query
            logger.debug("no other worker writes by transactional id %r: %s", key[1], error)
            self._resources.put(SILENT, key, True)
            return None
        return None if connection is None else _answer(connection, pickled)


class _Offer:
    """Write the rows of other workers' tasks by a session of this one."""

    def __init__(self, sessions: TransactionSessions, write: WriteRows) -> None:
        self._sessions, self._write = sessions, write

    def answer(self, listener: SiblingListener, request: bytes, is_abandoned: Callable[[], bool]) -> bytes | None:
        """Answer a request by a result or an error, or refuse it."""
        asked: _Request = pickle.loads(request)  # noqa: S301 - from a sibling
        config, task = asked.config, asked.task
        if asked.rows is None:
            listener.close()
            self._sessions.give_up(config, task)
            return None
        try:
            if self._sessions.has(config, task):
                return pickle.dumps(self._write(config, asked.schema, task, _rows(asked.rows, is_abandoned)))
        except MillraceError as error:
            return pickle.dumps(error)
        finally:
            # Left to a worker that has taken the transactional id over
            if not self._sessions.has(config, task):
                listener.close()
        return None


class AbandonedTaskError(Exception):
    """Nobody waits for the result of a task any more."""


def _rows(stream: bytes, is_abandoned: Callable[[], bool]) -> Iterator[pa.RecordBatch]:
    yield from pa.ipc.open_stream(stream)
    # They are produced now, and not yet committed. The caller sends nothing more; there is its end to be read
    if is_abandoned():
        raise AbandonedTaskError("the task that sent the rows has ended")


def _answer(connection: Connection, request: bytes) -> WriteResult | None:
    with closing(connection):
        answer = ask(connection, request)
    if answer is None:
        return None
    outcome: WriteResult | MillraceError = pickle.loads(answer)  # noqa: S301 - from a sibling
    if isinstance(outcome, MillraceError):
        raise outcome
    return outcome


def _is_shared(task: WriteTask) -> bool:
    # A batch write has its transactional ids for itself; those inside foreachBatch take theirs over
    return IS_SUPPORTED and task.is_streaming and bool(task.run) and not task.write


def _few_rows(batches: Iterable[pa.RecordBatch]) -> tuple[bytes | None, Iterable[pa.RecordBatch] | None]:
    """Return rows as a stream of Arrow if they are few, and all of them as they were; None where there are none."""
    remaining = iter(batches)
    filled = (batch for batch in remaining if batch.num_rows)
    first = next(filled, None)
    if first is None:
        return None, None
    second = next(filled, None)
    if second is not None or first.nbytes > MAX_BYTES:
        return None, chain([first] if second is None else [first, second], remaining)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, first.schema) as stream:
        stream.write_batch(first)
    return sink.getvalue().to_pybytes(), [first]


def _name(config: SinkConfig, task: WriteTask) -> str:
    # Nothing secret: all processes of the host see it
    identity = f"{config.client.get('bootstrap.servers')} {transactional_id(config, task.index)} {task.run}"
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
