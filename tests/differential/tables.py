"""Tables that queries run over in Flink and in millrace: rows, changes by key and changes of a database, with NULLs."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from support.kafka import produce

_ORDERS = (
    "id INT, customer INT, product STRING, amount DECIMAL(10, 2), price DOUBLE, qty INT, tags ARRAY<STRING>, "
    "props MAP<STRING, INT>, ship ROW<city STRING, days INT>, doc STRING, ts TIMESTAMP(3), day_text STRING"
)
_LATE = "INTERVAL '1' HOUR"
_JSON = {"connector": "kafka", "format": "json", "scan.startup.mode": "earliest-offset"}
_UPSERT = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"}

_TABLES = {
    "orders": ("orders", _ORDERS, _JSON),
    "events": (
        "orders",
        f"{_ORDERS}, moment AS CAST(ts AS TIMESTAMP_LTZ(3)), WATERMARK FOR moment AS moment - {_LATE}",
        _JSON,
    ),
    "arriving": ("orders", f"{_ORDERS}, proc AS PROCTIME()", _JSON),
    "local_events": ("orders", f"{_ORDERS}, WATERMARK FOR ts AS ts - {_LATE}", _JSON),
    "customers": (
        "customers",
        "id INT, name STRING, city STRING, credit DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED",
        _UPSERT,
    ),
    "accounts": (
        "accounts",
        "id INT, owner INT, balance DECIMAL(10, 2), kind STRING, PRIMARY KEY (id) NOT ENFORCED",
        {**_JSON, "format": "debezium-json"},
    ),
}
"""Topic, columns and options of each table."""

TABLES = tuple(_TABLES)
"""The tables' names."""

_VIEW = """CREATE TEMPORARY VIEW minutes AS SELECT window_time AS ended, COUNT(*) AS n
    FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(moment), INTERVAL '5' MINUTES))
    GROUP BY window_start, window_end, window_time"""


@dataclass(frozen=True)
class Statements:
    """The statements that create the tables.

    Attributes:
        bounded: With topics that are read to their ends.
        endless: With topics that are read on, for windows of streams: a last row moves the watermark behind all
            windows but its own.
    """

    bounded: list[str]
    endless: list[str]


def fill(servers: str, make_topic: Callable[..., str]) -> Statements:
    """Write the tables' topics, and return the statements that create them."""
    topics = {"orders": make_topic(1), "customers": make_topic(3), "accounts": make_topic(1)}
    rows = [{"value": json.dumps(row)} for row in _orders()]
    produce(servers, topics["orders"], rows)
    produce(servers, topics["customers"], list(_customers()))
    produce(servers, topics["accounts"], [{"value": json.dumps(change)} for change in _accounts()])
    endless = {**topics, "orders": make_topic(1)}
    produce(
        servers,
        endless["orders"],
        [*rows, {"value": json.dumps({"id": -1, "qty": 100, "ts": "2100-01-01 00:00:00.000"})}],
    )
    return Statements(
        _statements(servers, topics, {"scan.bounded.mode": "latest-offset"}), _statements(servers, endless, {})
    )


def _statements(servers: str, topics: dict[str, str], more: dict[str, str]) -> list[str]:
    tables = [
        _statement(name, columns, {**options, **more, "properties.bootstrap.servers": servers, "topic": topics[topic]})
        for name, (topic, columns, options) in _TABLES.items()
    ]
    return [*tables, _VIEW]


def _statement(name: str, columns: str, options: dict[str, str]) -> str:
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TEMPORARY TABLE {name} ({columns}) WITH ({pairs})"


def _orders() -> Iterator[dict[str, Any]]:
    chosen = random.Random(1)
    for number in range(120):
        second = number * 37
        yield {
            "id": number,
            "customer": None if number % 11 == 0 else chosen.randrange(8),
            "product": chosen.choice(["apple", "Pear", "fig", "it's", "ä b", None]),
            "amount": None if number % 13 == 0 else chosen.randrange(-50_00, 200_00) / 100,
            "price": None if number % 17 == 0 else chosen.randrange(1, 4_000) / 8,
            "qty": None if number % 7 == 0 else chosen.randrange(0, 9),
            "tags": None if number % 9 == 0 else chosen.sample(["a", "b", "c"], number % 4),
            "props": {"x": number % 5, "y": None if number % 2 else 1},
            "ship": None if number % 10 == 0 else {"city": chosen.choice(["Oslo", "Rome"]), "days": number % 6},
            "doc": json.dumps({"a": {"b": number}, "n": 1.5, "s": "t", "l": [1, {"k": "v"}], "e": None}),
            "ts": f"2024-03-09 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{number % 1000:03}",
            "day_text": f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}",
        }


def _customers() -> Iterator[dict[str, Any]]:
    chosen = random.Random(2)
    for number in range(60):
        key = number % 10
        row = {
            "id": key,
            "name": None if number % 8 == 7 else f"n{number % 6}",
            "city": chosen.choice(["Oslo", "Rome", None]),
            "credit": chosen.randrange(100_00) / 100,
        }
        is_deleted = number in (13, 27, 48, 59)
        yield {"key": json.dumps({"id": key}), "value": None if is_deleted else json.dumps(row)}


def _accounts() -> Iterator[dict[str, Any]]:
    chosen = random.Random(3)
    table: dict[int, dict[str, Any]] = {}
    for number in range(90):
        key = chosen.randrange(12)
        old = table.pop(key, None)
        if old is not None and number % 5 == 0:
            yield {"op": "d", "before": old, "after": None}
            continue
        new = {
            "id": key,
            "owner": chosen.choice([None, 1, 2, 3]),
            "balance": chosen.randrange(-10_00, 90_00) / 100,
            "kind": chosen.choice(["a", "b", None]),
        }
        table[key] = new
        yield {"op": "c" if old is None else "u", "before": old, "after": new}
