"""Produce random orders of a fictional shop to a topic, at a varying rate."""

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
_RETURN_SHARE = 0.04
_TICK_SECONDS = 0.05
_FLUSH_SECONDS = 5.0

_WARM_UP_SECONDS = 10.0
_WARM_UP_RATE = 500
_STEADY_RATE = 2_500
_BURST_RATE = 7_500
_BURST_PERIOD_SECONDS = 12.0
_BURST_SECONDS = 3.0


def orders(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Generate orders without end, each with the current time.

    Args:
        rng: Random number generator; the same seed gives the same orders, except for their times.
    """
    countries, weights = list(_COUNTRIES), list(_COUNTRIES.values())
    products = list(_PRICES)
    number = 0
    while True:
        number += 1
        product = rng.choice(products)
        quantity = rng.randint(1, 5)
        yield {
            "id": number,
            "customer": f"c{rng.randrange(_CUSTOMERS):04}",
            "country": rng.choices(countries, weights)[0],
            "product": product,
            "amount": round(_PRICES[product] * rng.uniform(0.8, 1.2), 2),
            "quantity": -quantity if rng.random() < _RETURN_SHARE else quantity,
            "ts": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%fZ"),
        }


def orders_due(seconds: float) -> int:
    """Return how many orders are due after some seconds: few at first, then a steady rate with bursts."""
    # Few at first, since Spark is busy starting up
    warm_up = min(seconds, _WARM_UP_SECONDS)
    steady = seconds - warm_up
    periods, into_period = divmod(steady, _BURST_PERIOD_SECONDS)
    in_bursts = periods * _BURST_SECONDS + max(0.0, into_period - (_BURST_PERIOD_SECONDS - _BURST_SECONDS))
    return int(warm_up * _WARM_UP_RATE + steady * _STEADY_RATE + in_bursts * (_BURST_RATE - _STEADY_RATE))


class OrderProducer:
    """A producer of orders in a background thread, within a ``with`` block.

    Args:
        bootstrap_servers: The brokers.
        topic: The topic; an order's key is its customer.
    """

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        from confluent_kafka import Producer

        self._producer = Producer(
            {"bootstrap.servers": bootstrap_servers, "partitioner": "murmur2_random", "linger.ms": 20}
        )
        self._topic = topic
        self._orders = orders(random.Random(7))  # noqa: S311 - the orders are no secrets
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="millrace-demo-orders", daemon=True)
        self.sent = 0
        """Orders that the broker has acknowledged."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop producing, and wait until the broker has acknowledged the orders, at most for some seconds."""
        self._stop.set()
        self._thread.join()
        self._producer.flush(_FLUSH_SECONDS)

    def _run(self) -> None:
        started_at = time.monotonic()
        produced = 0
        while not self._stop.wait(_TICK_SECONDS):
            due = orders_due(time.monotonic() - started_at)
            for _ in range(due - produced):
                self._produce(next(self._orders))
            produced = due
            self._producer.poll(0)

    def _produce(self, order: dict[str, Any]) -> object:
        value = json.dumps(order)
        while not self._stop.is_set():
            # The queue is full while the broker is slower than the producer: wait for it
            with contextlib.suppress(BufferError):
                return self._producer.produce(self._topic, value, order["customer"], on_delivery=self._on_delivery)
            self._producer.poll(_TICK_SECONDS)
        return None

    def _on_delivery(self, error: object, _: object) -> None:
        if error is None:
            self.sent += 1
