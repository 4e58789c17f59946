"""A table that changes at random, as messages of a changelog, and an upsert table that was written from it."""

from __future__ import annotations

import json
import random
from typing import Any

from support.kafka import consume

KEYS = 40
ROWS = 1_500


def debezium(op: str, before: Any = None, after: Any = None) -> bytes:
    """Return a message of Debezium."""
    return json.dumps({"before": before, "after": after, "op": op}).encode()


class ChangingTable:
    """A table that changes at random, and the messages of a changelog that its sink gets.

    Attributes:
        rows: Its rows.
        history: The values that each key had, None where it was deleted.

    Args:
        seed: Of its changes.
    """

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._number = 0
        self.rows: dict[int, int] = {}
        self.history: dict[int, list[int | None]] = {}

    def change(self, times: int = ROWS) -> list[dict[str, bytes]]:
        """Change it, and return the messages; those of a key belong to one partition."""
        return [message for _ in range(times) for message in self._change_row()]

    def _change_row(self) -> list[dict[str, bytes]]:
        self._number += 1
        key = self._random.randrange(KEYS)
        old = {"id": key, "n": self.rows[key]} if key in self.rows else None
        if old is not None and self._random.random() < 0.2:
            del self.rows[key]
            self.history[key].append(None)
            return [{"key": b"%d" % key, "value": debezium("d", before=old)}]
        new = {"id": key, "n": self._number}
        self.rows[key] = self._number
        self.history.setdefault(key, []).append(self._number)
        return [{"key": b"%d" % key, "value": debezium("u" if old else "c", old, new)}]


class Written:
    """The records of an upsert table's topic.

    Attributes:
        history: The values of each key, in order.
        rows: The last value of each key, without those deleted.
        partitions: The partitions of each key.

    Args:
        servers: The brokers.
        topic: The topic.
    """

    def __init__(self, servers: str, topic: str) -> None:
        self.history: dict[int, list[int | None]] = {}
        self.partitions: dict[int, set[int]] = {}
        for message in consume(servers, topic):
            key = int(message.key())
            value = None if message.value() is None else json.loads(message.value())["n"]
            self.history.setdefault(key, []).append(value)
            self.partitions.setdefault(key, set()).add(message.partition())
        self.rows = {key: values[-1] for key, values in self.history.items() if values[-1] is not None}
