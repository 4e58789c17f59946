"""A producer that keeps on writing while something else happens."""

from __future__ import annotations

import threading

from confluent_kafka import Producer

from support.retrying import flush, send
from support.waiting import PATIENCE_S


class SteadyProducer(threading.Thread):
    """A producer that writes ascending numbers to a topic, each once, until it is stopped.

    Args:
        servers: The brokers.
        topic: Where to write.
    """

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__()
        # Idempotent: brokers that come and go must not make it repeat itself
        self._settings = {"bootstrap.servers": servers, "linger.ms": "5", "log_level": 0, "enable.idempotence": True}
        self._topic = topic
        self._stopping = threading.Event()
        self.written = 0

    def run(self) -> None:
        producer = Producer(self._settings)
        while not self._stopping.wait(0.01):
            for _ in range(50):
                send(producer, self._topic, str(self.written).encode())
                self.written += 1
        flush(producer)

    def finish(self) -> int:
        """Stop writing, and return how many numbers were written."""
        self._stopping.set()
        self.join(PATIENCE_S)
        assert not self.is_alive(), "the records are not sent"
        return self.written
