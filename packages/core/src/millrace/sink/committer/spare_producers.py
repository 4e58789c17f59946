"""Clients that are connected before their task comes, for transactional ids that workers take from each other.

Where Spark gives a task to other workers in turn, each of them takes the transactional id over from the one before:
with a new producer, since Kafka's client cannot take an id over twice. A worker that has found its producer replaced
makes the next one in a thread, as soon as the task has ended, and keeps the client that reads the id's ledger. A spare
producer connects and looks topics up. It takes nothing over before a task uses it: until then it is no producer of the
id, and Kafka knows nothing of it.
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


class SpareClients:
    """A producer that connects in a thread, and a reader of its ledger.

    Args:
        config: The sink's configuration.
        replaced: The producer with the same transactional id that it replaces, which is closed in that thread.
        reader: The reader.
    """

    def __init__(self, config: SinkConfig, replaced: TransactionalProducer, reader: LedgerReader) -> None:
        self.reader = reader
        self._producer: TransactionalProducer | None = None
        self._replaced: TransactionalProducer | None = replaced
        self._thread = threading.Thread(
            target=self._connect, args=(config, replaced.transactional_id), name="millrace-spare", daemon=True
        )
        self._thread.start()

    def take_producer(self, timeout_s: float = _READY_TIMEOUT_S) -> TransactionalProducer | None:
        """Return the producer once; None when it is not ready in time, or could not connect."""
        self._thread.join(timeout_s)
        producer, self._producer = self._producer, None
        return producer

    def poll(self) -> None:
        """Serve the producer's callbacks."""
        producer = self._producer
        if producer is not None:
            producer.poll()

    def close(self) -> None:
        """Close both clients."""
        self.take_producer()
        self.reader.close()

    def _connect(self, config: SinkConfig, transactional_id: str) -> None:
        try:
            producer = TransactionalProducer(config.client, transactional_id)
            producer.connect(config.options.topics)
        except MillraceError as error:
            logger.debug("no spare producer of transactional id %r: %s", transactional_id, error)
        else:
            self._producer = producer
        # Closing a producer waits for its threads: here, once its task has let it go
        self._replaced = None


SPARES = ResourceKind[SpareClients]("spare transactional producer", capacity=8, poll=SpareClients.poll)
