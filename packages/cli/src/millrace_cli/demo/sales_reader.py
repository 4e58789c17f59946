"""Consume the pipeline's sales from their topic, and total them by country."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

_POLL_SECONDS = 0.1
_MAX_RECORDS = 1_000
_CATCH_UP_SECONDS = 10.0


@dataclass(frozen=True)
class CountryTotal:
    """The sales of a country so far.

    Attributes:
        country: The country.
        orders: Number of orders.
        revenue: Their total value.
    """

    country: str
    orders: int = 0
    revenue: float = 0.0


class SalesReader:
    """A consumer of all sales in a background thread, within a ``with`` block.

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
        self._partitions = [TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)]
        self._consumer.assign(self._partitions)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="millrace-demo-sales", daemon=True)
        self._totals: dict[str, CountryTotal] = {}
        self.count = 0
        """Number of sales consumed."""
        self.first_at: float | None = None
        """Arrival of the first one, by the monotonic clock; None before it."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._consumer.close()

    def stop(self) -> None:
        """Consume the sales that are in the topic, at most for some seconds, then stop."""
        self._stop.set()
        self._thread.join()

    def totals(self) -> tuple[CountryTotal, ...]:
        """Return the total of each country, the highest revenue first."""
        return tuple(sorted(self._totals.copy().values(), key=lambda total: -total.revenue))

    def _run(self) -> None:
        while not self._stop.is_set():
            self._consume()
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        while self._is_behind() and time.monotonic() < deadline:
            self._consume()

    def _consume(self) -> None:
        for message in self._consumer.consume(_MAX_RECORDS, _POLL_SECONDS):
            if message.error() is None:
                self._add(json.loads(message.value()))

    def _is_behind(self) -> bool:
        """Return whether sales are left to consume; an empty poll may just mean that the broker is slow."""
        from confluent_kafka import KafkaException

        try:
            ends = [self._consumer.get_watermark_offsets(each, _POLL_SECONDS)[1] for each in self._partitions]
        except KafkaException:
            return True
        positions = [each.offset for each in self._consumer.position(self._partitions)]
        return any(max(position, 0) < end for position, end in zip(positions, ends, strict=True))

    def _add(self, sale: dict[str, Any]) -> None:
        if self.first_at is None:
            self.first_at = time.monotonic()
        country = sale["country"]
        total = self._totals.get(country, CountryTotal(country))
        self._totals[country] = CountryTotal(country, total.orders + 1, total.revenue + sale["revenue"])
        self.count += 1
