"""Clients that are connected before their task comes, for transactional ids that workers take from each other.

Where Spark gives a task to other workers in turn, each of them takes the transactional id over from the one before:
with a new producer, since Kafka's client cannot take an id over twice. A worker that has found its producer replaced
makes the next one in a thread, as soon as the task has ended, and keeps the client that reads the id's ledger. A spare
producer connects and looks topics up. It takes nothing over before a task uses it: until then it is no producer of the
id, and Kafka knows nothing of it.

Nothing tells a worker that a query has ended. Clients that no task has taken for a while are closed.
"""

from __future__ import annotations

import logging
import threading

from millrace.configuration import SinkConfig
from millrace.errors import MillraceError
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.sink.committer.ledger_store import LedgerReader
from millrace.worker import ResourceKind

logger = logging.getLogger("millrace.sink")

_READY_TIMEOUT_S = 1.0
"""Time for which a task waits for a producer that is about to be connected; it makes one itself after that."""

_IDLE_TIMEOUT_S = 60.0
"""Time after which clients that no task has taken are closed, as Spark ends workers without tasks."""


class SpareClients:
    """A producer that connects in a thread, and a reader of its ledger, for one task or none.

    Args:
        config: The sink's configuration.
        replaced: The producer with the same transactional id that it replaces, which is closed in that thread.
        reader: The reader.
        idle_timeout_s: The time after which they are closed unless a task has taken them, in seconds.
    """

    def __init__(
        self,
        config: SinkConfig,
        replaced: TransactionalProducer,
        reader: LedgerReader,
        idle_timeout_s: float = _IDLE_TIMEOUT_S,
    ) -> None:
        self._lock = threading.Lock()
        self._reader: LedgerReader | None = reader
        self._producer: TransactionalProducer | None = None
        self._replaced: TransactionalProducer | None = replaced
        self._idle_timeout_s = idle_timeout_s
        self._is_ready, self._is_over = threading.Event(), threading.Event()
        self._thread = threading.Thread(
            target=self._keep, args=(config, replaced.transactional_id), name="millrace-spare", daemon=True
        )
        self._thread.start()

    def take(self, timeout_s: float = _READY_TIMEOUT_S) -> tuple[TransactionalProducer | None, LedgerReader | None]:
        """Return both clients once: no producer when it is not ready in time or could not connect, none when closed."""
        self._is_ready.wait(timeout_s)
        with self._lock:
            taken = self._producer, self._reader
            self._producer = self._reader = None
            self._is_over.set()
        return taken

    def poll(self) -> None:
        """Serve the producer's callbacks."""
        producer = self._producer
        if producer is not None:
            producer.poll()

    def close(self) -> None:
        """Close both clients; a producer that is still connecting is closed in its thread."""
        _, reader = self.take(0)
        if reader is not None:
            reader.close()

    def _keep(self, config: SinkConfig, transactional_id: str) -> None:
        self._connect(config, transactional_id)
        self._is_ready.set()
        # Closing a producer waits for its threads: here, once its task has let it go
        self._replaced = None
        if not self._is_over.wait(self._idle_timeout_s):
            self.close()

    def _connect(self, config: SinkConfig, transactional_id: str) -> None:
        try:
            producer = TransactionalProducer(config.client, transactional_id)
            producer.connect(config.options.topics)
        except MillraceError as error:
            logger.debug("no spare producer of transactional id %r: %s", transactional_id, error)
            return
        with self._lock:
            if not self._is_over.is_set():
                self._producer = producer


SPARES = ResourceKind[SpareClients](
    "spare transactional producer", capacity=8, close=SpareClients.close, poll=SpareClients.poll
)
