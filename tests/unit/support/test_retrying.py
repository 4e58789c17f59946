"""Plain clients of tests."""

from __future__ import annotations

from confluent_kafka import Producer

from support.retrying import send


def test_a_full_queue_is_waited_for() -> None:
    """Nobody answers at port 1, so a record makes room when it has expired."""
    settings = {"bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": 1, "message.timeout.ms": 100}
    producer = Producer({**settings, "log_level": 0})
    delivered: list[str] = []
    for name in ("first", "second"):
        send(producer, "orders", name, on_delivery=lambda _, message: delivered.append(message.value().decode()))
    assert delivered == ["first"]
    assert producer.purge() is None
