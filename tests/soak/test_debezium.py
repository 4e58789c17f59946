"""A database with a real Debezium, copied while its columns change and drivers are killed; run by ``tox -e soak``."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message

from millrace_broker import KafkaBroker
from millrace_catalog.inference import DebeziumReader
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from support.copied_tables import check_equal
from support.debezium import Debezium
from support.families import Family
from support.kafka import consume
from support.origin import TABLES, Origin, as_origin, plain
from support.postgres import Postgres
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "copy_database.py"
SCHEMA_CHANGES = int(os.environ.get("SOAK_SCHEMA_CHANGES", "200"))
KILLS = int(os.environ.get("SOAK_KILLS", "20"))
NAME = "shop"
SOURCE = """
source:
  type: kafka
  properties.bootstrap.servers: {servers}
  topic-pattern: {topics}
  scan.startup.mode: earliest-offset
  scan.topic-partition-discovery.interval: 5 s
  debezium-json.schema-include: true
transform:
{keys}
pipeline:
  schema.change.behavior: evolve
"""
DATABASE = """
sink:
  type: jdbc
  url: jdbc:postgresql://127.0.0.1:{port}/copies
  username: {user}
  password: {password}
  schema-name: copies
"""
KAFKA = """
sink:
  type: kafka
  properties.bootstrap.servers: {servers}
  topic: copies
  exclude.schema.changes: truncate.table
  sink.delivery-guarantee: exactly-once
  sink.transactional-id-prefix: copies
"""


def last_keys(messages: Iterable[Message]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the last rows by table and key, as JSON."""
    rows: dict[str, dict[str, dict[str, Any]]] = {name: {} for name, table in TABLES.items() if table.key}
    reader = DebeziumReader("copies")
    for message in messages:
        change = reader.parse(message.value())
        assert change is not None
        name = change.table.rpartition(".")[2]
        if name not in rows:
            continue
        for before, after in change.rows:
            for row, is_new in ((before, False), (after, True)):
                if row is not None:
                    key = json.dumps([row[column] for column in TABLES[name].key])
                    assert is_new or key in rows[name], f"{name}: {key} at offset {message.offset()} is not there"
                    rows[name].update({key: row}) if is_new else rows[name].pop(key)
    return rows


def changes_of_tables(servers: str) -> int:
    """Count the changes of rows that Debezium has written."""
    topics = [f"{NAME}.public.{name}" for name in (*TABLES, "marks")]
    values = [json.loads(each.value()) for topic in topics for each in consume(servers, topic) if each.value()]
    return sum(each["payload"]["op"] != "t" for each in values)


def files_of(postgres: Postgres, servers: str) -> dict[str, str]:
    """Return the files of the pipelines, by name."""
    keys = "\n".join(
        f"  - {{source-table: postgres.public.{name}, primary-keys: '{', '.join(table.key)}'}}"
        for name, table in TABLES.items()
        if table.key
    )

    def source(topics: str) -> str:
        return SOURCE.format(servers=servers, topics=topics, keys=keys)

    login = {"port": postgres.port, "user": postgres.properties["user"], "password": postgres.properties["password"]}
    return {
        # Rows of a table without primary key cannot be updated
        "database": source(rf"{NAME}\.public\.(?!visits)\w+") + DATABASE.format(**login),
        "topic": source(rf"{NAME}\..*") + KAFKA.format(servers=servers),
    }


class Kills:
    """Kill drivers while the origin changes.

    Args:
        origin: The origin.
        start: Starts a driver.
    """

    def __init__(self, origin: Origin, start: Callable[[], Family]) -> None:
        self._origin = origin
        self._start = start
        self._chance = random.Random(15)
        self._kills = self._schema_changes = 0

    def run(self) -> None:
        """Go on until there were as many kills and schema changes as there should be."""
        while self._kills < KILLS or self._schema_changes < SCHEMA_CHANGES:
            with self._start() as running:
                until = time.monotonic() + self._chance.uniform(10, 40)
                while time.monotonic() < until:
                    self._change()
                    assert running.is_running(), running.console.read_text()[-5000:]
                running.kill()
            self._kills += 1
            print(f"{self._kills} kills, {self._schema_changes} schema changes", flush=True)

    def _change(self) -> None:
        if self._schema_changes < SCHEMA_CHANGES:
            self._origin.change_columns()
            self._schema_changes += 1
        self._origin.change_rows(20)


def check_copies(postgres: Postgres, servers: str, origin: Origin) -> None:
    """Check the copies in the database and in the topic."""
    for name, table in TABLES.items():
        if table.key:
            check_equal(postgres.rows(f'SELECT * FROM copies."{name}"', "copies"), origin, name)
    messages = consume(servers, "copies")
    assert len(messages) == changes_of_tables(servers)
    rows = last_keys(messages)
    # The topic keeps what TRUNCATE has deleted
    for name in sorted(set(TABLES) - {"lists", "visits"}):
        key, there = TABLES[name].key, origin.rows(name)
        like = {each: [row[each] for row in there] for each in key}
        wanted = [[plain(row[each]) for each in key] for row in there]
        found = [[plain(_like(row[each], like[each])) for each in key] for row in rows[name].values()]
        assert sorted(map(str, found)) == sorted(map(str, wanted)), name


@pytest.mark.timeout(3600)
def test_copies_equal_the_database_after_schema_changes_and_kills(tmp_path, tmp_path_factory):
    with (
        KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka")) as broker,
        Postgres(wal_level="logical", max_connections="200") as postgres,
    ):
        servers = broker.bootstrap_servers
        broker.create_topic("copies")
        postgres.execute("CREATE DATABASE copies")
        postgres.execute("CREATE SCHEMA copies", "copies")
        origin = Origin(postgres, seed=16)
        origin.create()
        given = {
            "files": files_of(postgres, servers),
            "checkpoints": str(tmp_path),
            "packages": PostgreSQL.package,
        }

        def driver(*, once: bool = False) -> Family:
            return Family([sys.executable, str(PROGRAM), json.dumps({**given, "once": once})], tmp_path / "console")

        with Debezium(postgres, servers, NAME, has_schemas=True) as debezium:
            debezium.wait_until_running()
            Kills(origin, driver).run()
            origin.truncate("lists")
            position = origin.position()
            wait_until(lambda: origin.is_sent(NAME, position), "Debezium to send all changes", 120)
            with driver(once=True) as running:
                running.result(900)
            check_copies(postgres, servers, origin)


def _like(value: Any, like: list[Any]) -> Any:
    candidates = [as_origin(value, each) for each in like] or [value]
    return next((each for each in candidates if each in like), candidates[0])
