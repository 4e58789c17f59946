"""Consume the pipeline's results from their topic."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

_POLL_SECONDS = 0.1
_MAX_NEWEST = 8


@dataclass(frozen=True)
class Result:
    """The revenue of a country in a time window.

    Attributes:
        start: Start of the window, as in the record.
        end: End of the window, as in the record.
        country: The country.
        orders: Number of orders.
        revenue: Their total value.
    """

    start: str
    end: str
    country: str
    orders: int
    revenue: float


class ResultReader:
    """A consumer of all results in a background thread, within a ``with`` block.

    Args:
        bootstrap_servers: The brokers.
        topic: The topic.
        partitions: Its number of partitions.
    """

    def __init__(self, bootstrap_servers: str, topic: str, partitions: int) -> None:
        from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "millrace-demo",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 100,
            }
        )
        self._consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="millrace-demo-results", daemon=True)
        self._newest: deque[Result] = deque(maxlen=_MAX_NEWEST)
        self.count = 0
        """Number of results consumed."""
        self.first_at: float | None = None
        """Arrival of the first one, by the monotonic clock; None before it."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()

    def newest(self) -> tuple[Result, ...]:
        """Return the latest results, the newest first."""
        return tuple(reversed(self._newest.copy()))

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(_POLL_SECONDS)
            if message is not None and message.error() is None:
                self._add(json.loads(message.value()))

    def _add(self, record: dict[str, Any]) -> None:
        if self.first_at is None:
            self.first_at = time.monotonic()
        self._newest.append(Result(**record))
        self.count += 1
