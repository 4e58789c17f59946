"""Reads the pipeline's results back from their topic, as any consumer would."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

_POLL_SECONDS = 0.1
_KEPT = 8


@dataclass(frozen=True)
class Result:
    """The revenue of a country in a window of time.

    Attributes:
        start: When the window began, as it stands in the record.
        end: When it ended.
        country: The country.
        orders: How many orders there were.
        revenue: Their value.
    """

    start: str
    end: str
    country: str
    orders: int
    revenue: float


class ResultReader:
    """Reads all results from a thread of its own, within a ``with`` block.

    Args:
        bootstrap_servers: Where Kafka is.
        topic: The topic.
        partitions: How many partitions it has.
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
        self._newest: deque[Result] = deque(maxlen=_KEPT)
        self.count = 0
        """Results that were read."""
        self.first_at: float | None = None
        """When the first one was there, by the monotonic clock."""

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
        """The results that came last, the newest first."""
        return tuple(reversed(self._newest.copy()))

    def _run(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(_POLL_SECONDS)
            if message is not None and message.error() is None:
                self._take(json.loads(message.value()))

    def _take(self, record: dict[str, Any]) -> None:
        if self.first_at is None:
            self.first_at = time.monotonic()
        self._newest.append(Result(**record))
        self.count += 1
