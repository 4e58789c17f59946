"""Random orders of a fictional shop, produced to a topic with a burst now and then."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Self

_COUNTRIES = {"US": 30, "DE": 18, "GB": 14, "FR": 12, "JP": 10, "BR": 8, "IN": 5, "ES": 3}
_PRICES = {"espresso": 2.4, "teapot": 24.9, "mug": 9.5, "grinder": 89.0, "kettle": 39.9, "filter": 4.2}
_RETURN_SHARE = 0.04
_TICK_S = 0.05
_FIRST_ORDERS = 10
_ORDERS_OF_A_TICK = (100,) * 150 + (300,) * 50
_FLUSH_S = 5.0


def orders(rng: random.Random) -> Iterator[dict[str, Any]]:
    """Generate orders without end, with the current time.

    Args:
        rng: Random number generator; the same seed gives the same orders, except for their times.
    """
    number = 0
    while True:
        number += 1
        product = rng.choice(list(_PRICES))
        quantity = rng.randint(1, 5)
        yield {
            "id": number,
            "customer": f"c{rng.randrange(5_000):04}",
            "country": rng.choices(list(_COUNTRIES), list(_COUNTRIES.values()))[0],
            "product": product,
            "amount": round(_PRICES[product] * rng.uniform(0.8, 1.2), 2),
            "quantity": -quantity if rng.random() < _RETURN_SHARE else quantity,
            "ts": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%fZ"),
        }


class OrderProducer:
    """A producer of orders in a background thread, within a ``with`` block.

    Args:
        bootstrap_servers: The brokers.
        topic: The topic; an order's key is its customer.
    """

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        from confluent_kafka import Producer

        self._producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 20})
        self._topic = topic
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="millrace-demo-orders", daemon=True)
        self.sent = 0
        """Orders that the broker has acknowledged."""
        self.is_awaited = False
        """True once sales have come: before, there are few orders, since Spark is busy starting up."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop producing, and wait until the broker has acknowledged the orders, at most for some seconds."""
        self._stopped.set()
        self._thread.join()
        self._producer.flush(_FLUSH_S)

    def _run(self) -> None:
        shop = orders(random.Random(7))  # noqa: S311 - the orders are no secrets
        tick = 0
        while not self._stopped.wait(_TICK_S):
            for _ in range(_ORDERS_OF_A_TICK[tick % len(_ORDERS_OF_A_TICK)] if self.is_awaited else _FIRST_ORDERS):
                order = next(shop)
                self._producer.produce(self._topic, json.dumps(order), order["customer"], on_delivery=self._count)
            self._producer.poll(0)
            tick += self.is_awaited

    def _count(self, error: object, _: object) -> None:
        self.sent += error is None
