"""Orders of an invented shop, sent to a topic at a rate that goes up and down."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

_COUNTRIES = {"US": 30, "DE": 18, "GB": 14, "FR": 12, "JP": 10, "BR": 8, "IN": 5, "ES": 3}
_PRICES = {"espresso": 2.4, "teapot": 24.9, "mug": 9.5, "grinder": 89.0, "kettle": 39.9, "filter": 4.2}
_CUSTOMERS = 5_000
_RETURNED = 0.04
_TICK_SECONDS = 0.05
_FLUSH_SECONDS = 5.0

_OPENING_SECONDS = 10.0
_OPENING_RATE = 500
_USUAL_RATE = 2_500
_BURST_RATE = 7_500
_BURST_EVERY_SECONDS = 12.0
_BURST_SECONDS = 3.0


def orders(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Orders without end, one after the other, each at the time it is taken.

    Args:
        chance: Where the choices come from; the same seed gives the same orders but for their times.
    """
    countries, weights = list(_COUNTRIES), list(_COUNTRIES.values())
    products = list(_PRICES)
    number = 0
    while True:
        number += 1
        product = chance.choice(products)
        quantity = chance.randint(1, 5)
        yield {
            "id": number,
            "customer": f"c{chance.randrange(_CUSTOMERS):04}",
            "country": chance.choices(countries, weights)[0],
            "product": product,
            "amount": round(_PRICES[product] * chance.uniform(0.8, 1.2), 2),
            "quantity": -quantity if chance.random() < _RETURNED else quantity,
            "ts": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%fZ"),
        }


def orders_due(seconds: float) -> int:
    """How many orders there have been after so many seconds: a slow beginning, then a steady flow with bursts."""
    # The beginning is slow, since Spark has enough to do with its own
    opening = min(seconds, _OPENING_SECONDS)
    usual = seconds - opening
    bursts, into = divmod(usual, _BURST_EVERY_SECONDS)
    in_bursts = bursts * _BURST_SECONDS + max(0.0, into - (_BURST_EVERY_SECONDS - _BURST_SECONDS))
    return int(opening * _OPENING_RATE + usual * _USUAL_RATE + in_bursts * (_BURST_RATE - _USUAL_RATE))


class OrderProducer:
    """Sends orders to a topic from a thread of its own, within a ``with`` block.

    Args:
        bootstrap_servers: Where Kafka is.
        topic: The topic; an order's key is its customer.
    """

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        from confluent_kafka import Producer

        self._producer = Producer(
            {"bootstrap.servers": bootstrap_servers, "partitioner": "murmur2_random", "linger.ms": 20}
        )
        self._topic = topic
        self._orders = orders(random.Random(7))  # noqa: S311 - nothing secret about invented orders
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="millrace-demo-orders", daemon=True)
        self.sent = 0
        """Orders that the broker has."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._producer.flush(_FLUSH_SECONDS)

    def _run(self) -> None:
        began = time.monotonic()
        made = 0
        while not self._stop.wait(_TICK_SECONDS):
            due = orders_due(time.monotonic() - began)
            for _ in range(due - made):
                self._send(next(self._orders))
            made = due
            self._producer.poll(0)

    def _send(self, order: dict[str, Any]) -> object:
        value = json.dumps(order)
        while not self._stop.is_set():
            # When the broker is behind the queue is full: wait for it, as every producer has to
            with contextlib.suppress(BufferError):
                return self._producer.produce(self._topic, value, order["customer"], on_delivery=self._delivered)
            self._producer.poll(_TICK_SECONDS)
        return None

    def _delivered(self, error: object, _: object) -> None:
        if error is None:
            self.sent += 1
