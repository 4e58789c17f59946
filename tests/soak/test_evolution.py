"""A table whose columns change all the time, while the query that follows them is killed; run by ``tox -e soak``."""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from millrace_catalog.inference import JsonReader, KeyInference, Position, TopicInference
from millrace_catalog.types import parse_schema
from support.checkpoints import count_micro_batches
from support.families import Family
from support.kafka import consume, produce
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "replicate_table.py"
CHANGES = int(os.environ.get("SOAK_SCHEMA_CHANGES", "200"))
KILLS = int(os.environ.get("SOAK_KILLS", "10"))
MESSAGES = 1_000 * CHANGES
FIRST, PARTITIONS = 1_000, 4
SHARE = math.ceil((MESSAGES - FIRST) / KILLS)
"""Messages of each driver, however far the one before it has come."""

# From narrow to wide. Nothing becomes STRING that has been made wider before: a DOUBLE does not know whether it was 5
# or 5.0 in the message
CHAINS: list[list[Callable[[int], Any]]] = [
    [lambda n: n, lambda n: n + 0.5],
    [lambda n: n, lambda n: f"text {n}"],
    [lambda n: n + 0.5, lambda n: f"text {n}"],
    [lambda n: n, lambda n: 10**20 + n],
    [lambda n: 10**20 + n, lambda n: [n, None, "text"]],
    [lambda n: [n], lambda n: [n + 0.5, None]],
    [lambda n: f"2020-12-{1 + n % 28:02}", lambda n: f"day {n}"],
    [lambda n: n % 2 == 0, lambda n: n + 0.25],
    [lambda n: f"2020-12-30 12:13:{n % 60:02}", lambda n: n % 3 == 0],
]


class Drift:
    """Messages whose fields become more, and their types wider."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._fields: dict[str, list[tuple[str, list[Callable[[int], Any]]]]] = {"key": [], "value": []}
        self._levels: dict[str, int] = {}

    def messages(self) -> Iterator[dict[str, Any]]:
        """Return the messages as arguments of `Producer.produce`; the changes begin after the first thousand."""
        at = set(self._chance.sample(range(FIRST, MESSAGES), CHANGES))
        for number in range(MESSAGES):
            changed = self._change() if number in at else None
            value = {"id": number, **self._some("value", number, 4, changed)}
            key = self._some("key", number, 1, changed) if changed or number % 3 == 0 else {}
            yield {
                "key": json.dumps(key).encode() if key else None,
                "value": json.dumps(value).encode(),
                "partition": self._chance.randrange(PARTITIONS),
            }

    def _change(self) -> str:
        """Make a field wider, or a new one; its name."""
        chance = self._chance
        growing = [
            (name, chain)
            for fields in self._fields.values()
            for name, chain in fields
            if self._levels[name] < len(chain) - 1
        ]
        if growing and chance.random() < 0.4:
            name = chance.choice(growing)[0]
            self._levels[name] += 1
            return name
        name = f"f{len(self._levels)}"
        self._fields["key" if chance.random() < 0.1 else "value"].append((name, chance.choice(CHAINS)))
        self._levels[name] = 0
        return name

    def _some(self, part: str, number: int, count: int, needed: str | None) -> dict[str, Any]:
        """Values of some fields, most of them as wide as they are by now; of the needed one for certain."""
        fields = self._fields[part]
        chosen = dict(self._chance.sample(fields, min(count, len(fields))))
        chosen |= {name: chain for name, chain in fields if name == needed}
        return {name: chain[self._level(name, needed)](number) for name, chain in chosen.items()}

    def _level(self, name: str, needed: str | None) -> int:
        top = self._levels[name]
        return top if name == needed or self._chance.random() < 0.8 else self._chance.randint(0, top)


def inferred(topic: str, messages: list[Any]) -> dict[str, str]:
    """The types of all columns, from all messages at once."""
    values, keys = TopicInference(topic, JsonReader(topic)), KeyInference(topic)
    for each in messages:
        position = Position(each.partition(), each.offset())
        values.add(position, each.value())
        keys.add(position, each.key())
    found = {f"key_{column.name}": str(column.type) for column in keys.result().columns}
    return found | {column.name: str(column.type) for column in values.result().tables[topic].columns}


@pytest.mark.timeout(1800)
def test_two_hundred_changes_and_ten_kills(broker, spark, make_topic, connection, tmp_path):
    began = time.monotonic()
    chance, messages = random.Random(5), Drift(17).messages()
    topic, path, checkpoint = make_topic(PARTITIONS), tmp_path / "table", tmp_path / "checkpoint"
    produce(broker.bootstrap_servers, topic, islice(messages, FIRST))

    def driver(*, ends: bool) -> Family:
        given = {
            "connection": connection,
            "topic": topic,
            "path": str(path),
            "checkpoint": str(checkpoint),
            "options": {"scan.max-records-per-batch": str(SHARE // 4)},
            "ends": ends,
        }
        return Family([sys.executable, str(PROGRAM), json.dumps(given)], tmp_path / "console")

    for kill in range(KILLS):
        produce(broker.bootstrap_servers, topic, islice(messages, SHARE))
        before = count_micro_batches(checkpoint)
        with driver(ends=False) as running:

            def is_under_way(before: int = before, running: Family = running) -> bool:
                assert running.is_running(), running.console.read_text()
                return count_micro_batches(checkpoint) > before

            wait_until(is_under_way, "a micro-batch")
            until = time.monotonic() + chance.uniform(0, 6)
            wait_until(lambda until=until: time.monotonic() > until, "the moment to kill")
            assert running.is_running(), running.console.read_text()
            running.kill()
        print(f"kill {kill + 1} at {time.monotonic() - began:.0f} s, {count_micro_batches(checkpoint)} micro-batches")
    with driver(ends=True) as running:
        said = json.loads(running.result(600).splitlines()[-1])

    written = consume(broker.bootstrap_servers, topic)
    assert len(written) == MESSAGES
    columns = parse_schema(said["columns"])
    metadata = {"partition": "INT NOT NULL", "offset": "BIGINT NOT NULL", "timestamp": "TIMESTAMP_LTZ(3)"}
    types = {column.name: str(column.type) for column in columns}
    assert types == inferred(topic, written) | metadata

    table = spark.read.parquet(str(path))
    keys = [name for name in columns.names if name.startswith("key_")]
    decoded = (
        spark.read.format("millrace")
        .options(**connection, topic=topic)
        .option("format", "json")
        .option("key.format", "json")
        .option("key.fields", ";".join(keys))
        .option("key.fields-prefix", "key_")
        .option("value.fields-include", "EXCEPT_KEY")
        .option("metadata.columns", "partition, offset, timestamp")
        .schema(table.schema)
        .load()
    )
    assert table.columns == list(columns.names)
    found, expected = (rows.orderBy("partition", "offset").toArrow() for rows in (table, decoded))
    assert found.num_rows == MESSAGES
    assert found.equals(expected)
    print(f"{said['changes']} changes, {len(types)} columns, {KILLS} kills, {time.monotonic() - began:.0f} s")
