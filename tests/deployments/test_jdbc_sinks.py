"""Tables of real databases that are kept in step with a topic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from millrace.errors import MachineError, OptionsError
from millrace_catalog import JdbcSink
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.types import parse_schema
from support.kafka import produce
from support.postgres import Postgres

PROGRAM = Path(__file__).parents[1] / "programs" / "replicate_jdbc.py"
FULL = {
    "flag": True,
    "n": 12,
    "d": 2.0,
    "big": 12345678901234567890,
    "day": "2020-12-30",
    "at": "2020-12-30 12:13:14.5",
    "zoned": "2020-12-30 12:13:14Z",
    "list": [1, None],
    "a b": "x",
}
TEXTS = {"flag": "true", "n": "12", "d": "2.0", "big": "12345678901234567890", "day": "2020-12-30"}
TEXTS |= {"at": "2020-12-30 12:13:14.5", "zoned": "2020-12-30 12:13:14Z", "list": "[1,null]", "a b": "x"}


def test_tables_follow_their_topic(broker, connection, make_topic, tmp_path):
    topic = make_topic(1)
    messages = [
        {"id": 1, **FULL},
        {"id": 2, "new": True},
        # Every type but those of id and new becomes wider
        {"id": 3, **dict.fromkeys(FULL, "text"), "new": False},
        {"id": 4, "new": None},
        {"id": 5, **FULL},
    ]
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(message).encode()} for message in messages])
    with Postgres() as postgres:
        sqlite = {"url": f"jdbc:sqlite:{tmp_path}/orders.db", "properties": {}, "table": "Orders now"}
        databases = {
            "sqlite": sqlite,
            "postgresql": {"url": postgres.url, "properties": postgres.properties, "table": "public.Orders now"},
        }
        given = {
            "options": connection,
            "topic": topic,
            "databases": databases,
            "folder": str(tmp_path),
            "packages": f"{SQLite.package},{PostgreSQL.package}",
        }
        done = subprocess.run([sys.executable, PROGRAM, json.dumps(given)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert postgres.properties["password"] not in done.stdout + done.stderr

    names = ["id", *FULL, "partition", "offset", "twice", "new"]
    expected = [
        [1, *TEXTS.values(), 0, 0, 2, None],
        [2, *[None] * len(FULL), 0, 1, 4, True],
        [3, *["text"] * len(FULL), 0, 2, 6, False],
        [4, *[None] * len(FULL), 0, 3, 8, None],
        [5, *TEXTS.values(), 0, 4, 10, None],
    ]
    for name in databases:
        assert list(found[name]["types"]) == names
        assert found[name]["rows"] == expected
        # The second query knows all columns, and finds all rows there
        assert found[name]["restarts"] == [2, 0]
    assert found["postgresql"]["types"]["id"] == "bigint"
    assert found["sqlite"]["repr"] == f"JdbcSink('jdbc:sqlite:{tmp_path}/orders.db', 'Orders now')"
    assert found["sqlite"]["refused"].startswith("TableSinkError: jdbc:sqlite:")
    assert "could not prepare table t: " in found["sqlite"]["refused"]
    assert 'could not prepare table t: FATAL: database "nothing" does not exist' in found["postgresql"]["refused"]


def test_what_is_missing_is_named(spark):
    with pytest.raises(OptionsError, match="database jdbc:mysql is not supported: expected a URL that begins"):
        JdbcSink("jdbc:mysql://localhost/orders?password=s3cr3t", "orders")
    sink = JdbcSink("jdbc:postgresql://u:s3cr3t@localhost/orders?password=s3cr3t", "orders", {"password": "s3cr3t"})
    assert repr(sink) == "JdbcSink('jdbc:postgresql://localhost/orders', 'orders')"
    with pytest.raises(MachineError, match=r"no JDBC driver for .*: start it with the setting spark.jars.packages=org"):
        sink.prepare(spark, parse_schema("`partition` INT NOT NULL, `offset` BIGINT NOT NULL, id BIGINT"))
