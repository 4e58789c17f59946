"""Pipelines into real databases: tables have the last row of each key, whatever fails."""

from __future__ import annotations

import json
import logging
import random
import sqlite3
import struct
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import StreamingQueryException

from millrace.errors import SchemaError
from millrace.failures import sentence_of
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_cdc import Pipeline
from millrace_cdc.connectors.jdbc.sink import JdbcPipelineSink
from support.jdbc_drivers import add_drivers
from support.kafka import consume, produce
from support.pipeline_sinks import Table, make_sink, micro_batch
from support.postgres import Postgres

ORDERS = Table("shop.orders", "id BIGINT, name STRING", ("id",))


class Target(NamedTuple):
    """A database as an empty target."""

    spark: Any
    options: dict[str, str]

    @property
    def is_postgresql(self) -> bool:
        return "postgresql" in self.options["url"]

    def sink(self) -> JdbcPipelineSink:
        sink = make_sink(JdbcPipelineSink, **self.options)
        sink.check(self.spark)
        return sink

    def rows(self, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
        """Read a table without any code of the sink."""
        name = '"shop"."{}"' if self.is_postgresql else '"{}"'
        query = f"SELECT {columns} FROM {name.format(table)}"
        if not self.is_postgresql:
            with sqlite3.connect(self.options["url"].removeprefix("jdbc:sqlite:")) as connection:
                return sorted(connection.execute(query).fetchall(), key=repr)
        login = {"user": self.options["username"], "password": self.options["password"]}
        reader = self.spark.read.format("jdbc").options(url=self.options["url"], driver="org.postgresql.Driver")
        return sorted(map(tuple, reader.options(**login).option("query", query).load().collect()), key=repr)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture(params=["postgresql", "sqlite"])
def target(request, spark, postgres, tmp_path) -> Target:
    add_drivers(spark)
    if request.param == "sqlite":
        return Target(spark, {"url": f"jdbc:sqlite:{tmp_path}/shop.db"})
    login = {"username": "tests", "password": postgres.properties["password"]}
    target = Target(spark, {"url": postgres.url, **login})
    with target.sink()._database.connection(spark, "empty the database") as connection:
        connection.execute("DROP SCHEMA IF EXISTS shop CASCADE")
        connection.execute("DROP TABLE millrace_pipelines")
        connection.commit()
    return target


def refusal(sink, batch) -> str:
    """Return what a user sees of an error of executors."""
    with pytest.raises(Py4JJavaError) as refused:
        sink.write(batch)
    return sentence_of(refused.value)


def doubles() -> list[float]:
    """Return all kinds of numbers that have a text in JSON."""
    chosen = random.Random(7)
    bits = (struct.unpack("<d", chosen.randbytes(8))[0] for _ in range(1_000))
    edges = [0.1, 1e308, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 123456789012345680.0, -0.0]
    return [value for value in (*edges, *bits) if value == value and abs(value) != float("inf")]


class Lock(logging.Handler):
    """A transaction that keeps everybody from a database of SQLite, until the log says that the pipeline waits."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._transaction = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._transaction.execute("BEGIN EXCLUSIVE")
        self.waits: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "is tried again" in record.getMessage():
            self.waits.append(record.getMessage())
            if len(self.waits) == 1:
                self._transaction.execute("ROLLBACK")
                self._transaction.close()


def test_a_database_that_is_busy_for_a_while_does_not_end_a_pipeline(spark, tmp_path, monkeypatch):
    add_drivers(spark)
    file = tmp_path / "shop.db"
    text = f"""
source: {{type: values, changes: '+I shop.orders {{"id": 1, "name": "a"}}'}}
sink: {{type: jdbc, url: "jdbc:sqlite:{file}?busy_timeout=100"}}
transform: [{{source-table: shop.orders, primary-keys: id}}]
"""
    locks: list[Lock] = []
    apply = JdbcPipelineSink.apply

    def apply_while_locked(*arguments):
        if not locks:
            locks.append(Lock(file))
            logging.getLogger("millrace.pipelines").addHandler(locks[0])
        apply(*arguments)

    monkeypatch.setattr(JdbcPipelineSink, "apply", apply_while_locked)
    try:
        running = Pipeline.from_yaml(text).run(spark, checkpoint_location=str(tmp_path / "checkpoint"), once=True)
        running.await_termination()
    finally:
        for lock in locks:
            logging.getLogger("millrace.pipelines").removeHandler(lock)
    assert [each.partition(": ")[0] for each in locks[0].waits] == [
        "the sink is away, and the micro-batch is tried again in 1 s (1 of 7)"
    ]
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT * FROM orders").fetchall() == [(1, "a")]


@pytest.mark.nightly
def test_values_are_exact(spark, target):
    columns = (
        "id BIGINT, flag BOOLEAN, small SMALLINT, d DOUBLE, price DECIMAL(38, 10), text STRING, bin BYTES, day DATE, "
        "`at` TIMESTAMP(6), zoned TIMESTAMP_LTZ(6), list ARRAY<STRING>, row ROW<a INT, b STRING>, "
        "`odd \"'\\ ?é$.` STRING"
    )
    table = Table("shop.values", columns, ("id",))
    full = {
        "flag": True,
        "small": -32768,
        "price": "1234567890123456789012345678.0123456780",
        "text": "\u007f\t\"\\ 'é\U0001f600 \\u0000",
        "bin": "AAH/",
        "day": "0001-01-01",
        "at": "2024-02-29T23:59:59.123456",
        "zoned": "2024-05-06 07:08:09.5+02:00",
        "list": ["a", None, '"'],
        "row": {"a": 1, "b": "x  y"},
        "odd \"'\\ ?é$.": "odd",
    }
    others = [{"d": "NaN"}, {"d": "Infinity"}, {"d": "-Infinity"}, {"text": "", "bin": "", "list": [], "price": "0"}]
    rows = [full, {}, *others, *({"d": value} for value in doubles())]
    sink = target.sink()
    sink.apply(spark, [table.change()])
    sink.write(
        micro_batch(spark, 0, [table], [(table.id, None, {"id": key, **row}) for key, row in enumerate(rows, -3)])
    )

    quoted = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in ("id", *full))
    written = {row[0]: row[1:] for row in target.rows("values", quoted)}
    numbers = dict(target.rows("values", "id, d"))
    assert [numbers[key] for key in range(3, len(rows) - 3)] == doubles()
    assert numbers[0] == float("inf") == -numbers[1]
    (flag, small, price, text, binary, day, at, zoned, *others) = written[-3]
    assert (bool(flag), small, bytes(binary), text) == (True, -32768, b"\0\1\xff", full["text"])
    assert Decimal(price) == Decimal(full["price"])
    assert [str(day), str(at)] == ["0001-01-01", "2024-02-29 23:59:59.123456"]
    assert str(zoned) == ("2024-05-06 05:08:09.500000" if target.is_postgresql else "2024-05-06 07:08:09.5+02:00")
    assert others == ['["a",null,"\\""]', '{"a":1,"b":"x  y"}', "odd"]
    assert set(written[-2]) == {None}
    assert numbers[-2] is None
    nan = numbers[-1]
    assert nan != nan if target.is_postgresql else nan is None
    _, _, price, text, binary, *_ = written[2]
    assert (Decimal(price), text, bytes(binary)) == (0, "", b"")


@pytest.mark.nightly
def test_a_character_that_the_database_cannot_store_is_refused_with_its_place(spark, target):
    sink = target.sink()
    sink.apply(spark, [ORDERS.change()])
    batch = micro_batch(spark, 0, [ORDERS], [(ORDERS.id, None, {"id": 1, "name": "a\0b"})])
    if not target.is_postgresql:
        sink.write(batch)
        assert target.rows("orders") == [(1, "a\0b")]
        return
    assert refusal(sink, batch).startswith(
        "table 'shop.orders' of the sink: message in topic 't', partition 0, offset 0 does not fit it: column name has"
    )
    assert target.rows("orders") == []


class Origin:
    """Tables that change at random, and the changes."""

    def __init__(self, *names: str) -> None:
        self.rows: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in names}
        self._chosen = random.Random(3)

    def change(self, number: int) -> tuple[str, Any, Any]:
        """Insert, update or delete a row, or give it another key."""
        name = self._chosen.choice(list(self.rows))
        rows = self.rows[name]
        key = self._chosen.randrange(20)
        before = rows.pop(key, None)
        fate = self._chosen.choice(["update", "update", "delete", "move"]) if before else "insert"
        if fate == "delete":
            return name, before, None
        if fate == "move":
            key += 20
        # The same number, written in two ways
        rows[key] = {"id": key, "part": self._chosen.choice(["1.5", "1.50"]), "n": number}
        return name, before, rows[key]


@pytest.mark.nightly
def test_tables_equal_their_origin_after_random_changes_of_rows_and_columns(spark, target):
    origin = Origin("shop.a", "shop.b")
    columns = dict.fromkeys(origin.rows, "id INT, part DECIMAL(6, 2), n INT")
    sink = target.sink()
    for number in range(4):
        if number:
            columns["shop.a"] += f", c{number} STRING"
            columns["shop.b"] = f"id INT, part DECIMAL(6, 2), n {'BIGINT' if number == 1 else 'STRING'}"
        tables = [Table(name, columns[name], ("id", "part")) for name in origin.rows]
        changes = [origin.change(place) for place in range(120)]
        more, changed = tables
        evolved = [more.change("add.column", f"c{number}"), changed.change("alter.column.type", "n")]
        sink.apply(spark, evolved if number else [each.change() for each in tables])
        for _ in range(2):
            sink.write(micro_batch(spark, number, tables, changes, tasks=1 + number % 3))
            # One that has just started knows nothing
            sink = target.sink()

    for name, rows in origin.rows.items():
        written = target.rows(name.removeprefix("shop."), "id, part, n")
        assert sorted((key, int(n)) for key, _, n in written) == sorted((key, row["n"]) for key, row in rows.items())
        assert {Decimal(part) for _, part, _ in written} == {Decimal("1.5")}
    assert len(target.rows("a")[0]) == 6


@pytest.mark.nightly
def test_a_key_with_changes_in_several_partitions_has_the_newest(spark, target):
    sink = target.sink()
    sink.apply(spark, [ORDERS.change()])
    at = [
        {"partition": 0, "offset": 0, "timestamp": 9},
        {"partition": 1, "offset": 0, "timestamp": 5},
        # Older than the message before it in its partition, whose order counts
        {"partition": 0, "offset": 1, "timestamp": 4},
        {"partition": 1, "offset": 1, "timestamp": 5},
    ]
    changes = [(ORDERS.id, None, {"id": 1, "name": f"{n}"}, place) for n, place in enumerate(at)]
    for tasks in (1, 2):
        sink.write(micro_batch(spark, tasks, [ORDERS], changes, tasks=tasks))
        assert target.rows("orders") == [(1, "2")]


@pytest.mark.nightly
def test_a_table_without_primary_key_gets_insertions_only(spark, target):
    log = Table("shop.log", "line STRING, n INT")
    sink = target.sink()
    sink.apply(spark, [log.change()])
    same = {"line": "x", "n": 1}
    sink.write(micro_batch(spark, 0, [log], [(log.id, None, same), (log.id, None, same)], tasks=2))
    assert target.rows("log") == [("x", 1), ("x", 1)]
    sink.write(micro_batch(spark, 1, [log], [(log.id, None, {"line": "z", "n": 3})], truncated=[log.id]))
    assert target.rows("log") == [("z", 3)]


@pytest.mark.nightly
def test_nothing_of_a_schema_change_or_of_rows_stays_when_some_are_refused(spark, target):
    sink = target.sink()
    wrong = Table("shop.wrong", "id INT", ("id",))
    with pytest.raises(SchemaError, match=r"'shop.wrong' has 'partition-keys', which sink jdbc does not know"):
        sink.apply(spark, [ORDERS.change(), wrong.change(partition_keys=("id",))])
    sink.apply(spark, [ORDERS.change()])
    with pytest.raises(SchemaError, match=r"'shop.wrong' should be .*wrong in the database, which does not have it"):
        sink.apply(
            spark, [ORDERS._replace(columns="id BIGINT, name STRING, x INT").change(), wrong.change("add.column")]
        )
    sink.apply(spark, [wrong.change()])
    database = sink._database
    with database.connection(spark, "add a rule") as connection:
        name = '"shop"."wrong"' if target.is_postgresql else '"wrong"'
        connection.execute(f"CREATE UNIQUE INDEX other ON {name} (abs(id))")
        connection.commit()
    changes = [(ORDERS.id, None, {"id": 1, "name": "x"}), *((wrong.id, None, {"id": number}) for number in (-1, 1))]
    with pytest.raises(TableSinkError, match=r"could not write table .*wrong: "):
        sink.write(micro_batch(spark, 0, [ORDERS, wrong], changes))
    assert target.rows("orders") == []


def test_a_pipeline_from_a_topic_writes_each_change_once(
    spark, target, connection, broker, make_topic, tmp_path, monkeypatch
):
    topic = make_topic(partitions=2)

    def send(operation, table, before=None, after=None):
        content = {"before": before, "after": after, "op": operation, "source": {"db": "shop", "table": table}}
        message = {"value": json.dumps(content).encode(), "partition": ((before or after)["id"]) % 2}
        produce(broker.bootstrap_servers, topic, [message])

    options = "\n".join(f"  {name}: {value}" for name, value in target.options.items())
    pipeline = Pipeline.from_yaml(
        f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {topic}
  scan.startup.mode: earliest-offset
  debezium-json.distributed-tables: true
transform:
  - source-table: shop.orders
    projection: \\*
    primary-keys: id
sink:
  type: jdbc
{options}
"""
    )

    def run():
        pipeline.run(spark, checkpoint_location=str(tmp_path / "checkpoint"), once=True).await_termination()

    send("c", "log", after={"id": 0, "line": "x"})
    send("c", "orders", after={"id": 1, "price": 5})
    send("c", "orders", after={"id": 2, "price": 7})
    write = JdbcPipelineSink.write

    def write_and_fail(self, batch):
        write(self, batch)
        raise RuntimeError("the sink fails after it has written")

    with monkeypatch.context() as patch:
        patch.setattr(JdbcPipelineSink, "write", write_and_fail)
        with pytest.raises(StreamingQueryException, match="after it has written"):
            run()
    run()
    assert target.rows("log") == [(0, "x")]
    send("u", "orders", {"id": 1, "price": 5}, {"id": 1, "price": 6.5, "new": "n"})
    send("d", "orders", {"id": 2, "price": 7})
    run()
    run()
    assert target.rows("orders") == [(1, 6.5, "n")]


@pytest.mark.nightly
def test_a_plan_finds_tables_that_are_there(spark, target):
    sink = target.sink()

    def found():
        planned = sink.destinations(lambda: spark, [ORDERS.planned()])
        return [(each.name, each.exists, each.problem) for each in planned]

    name = "shop.orders" if target.is_postgresql else "orders"
    assert found() == [(name, False, None)]
    sink.apply(spark, [ORDERS.change()])
    assert found() == [(name, True, None)]


SOURCE = """
source: {type: jdbc, url: "%s", username: tests, password: "${secret_values.p}", tables: 'origin.\\.*',
  scan.incremental.column: changed_at}
sink: {type: values, print.enabled: false, materialized.in.memory: true}
"""


def test_a_database_is_read_and_followed(spark, postgres, tmp_path):
    columns = (
        "id int PRIMARY KEY, price numeric(30, 20), whole numeric, flag boolean, ratio double precision, data bytea, "
        "day date, at timestamp, changed_at timestamptz DEFAULT now(), more jsonb, tags text[]"
    )
    values = (
        "0.12345678901234567890, 1.50, true, 0.1, '\\x00ff', '2024-02-29', '2024-05-06 07:08:09.5', "
        "'2024-01-01 00:00:00+02', '{\"a\": 1}', '{x,NULL}'"
    )
    postgres.execute(
        f"CREATE SCHEMA origin; CREATE TABLE origin.t ({columns}); CREATE TABLE origin.others (LIKE origin.t); "
        f"INSERT INTO origin.t VALUES (1, {values}), (2, {values})"
    )
    pipeline = Pipeline.from_yaml(SOURCE % postgres.url, secret_values={"p": postgres.properties["password"]})

    def run() -> dict[str, list[dict[str, Any]]]:
        running = pipeline.run(spark, checkpoint_location=str(tmp_path), once=True)
        running.await_termination()
        return {table: sorted(rows, key=lambda row: row["id"]) for table, rows in running.sink.tables.items() if rows}

    row = {
        "price": Decimal("0.12345678901234567890"),
        "whole": "1.50",
        "flag": True,
        "ratio": 0.1,
        "data": "AP8=",
        "day": "2024-02-29",
        "at": "2024-05-06 07:08:09.500000",
        "changed_at": "2023-12-31 22:00:00.000000Z",
        "more": '{"a": 1}',
        "tags": "{x,NULL}",
    }
    plan = pipeline.plan(spark, checkpoint_location=str(tmp_path / "none"))
    assert {table.id: table.primary_key for table in plan.tables} == {"origin.t": ("id",), "origin.others": ()}
    assert {column.evidence.origin for table in plan.tables for column in table.columns} == {"database"}
    assert run() == {"origin.t": [{"id": number} | row for number in (1, 2)]}
    # As many rows with the last value as before, and one more; a new column
    postgres.execute(
        f"INSERT INTO origin.t VALUES (0, {values}); ALTER TABLE origin.t ADD COLUMN added int; "
        "UPDATE origin.t SET added = 5, changed_at = '2024-01-02 00:00:00Z' WHERE id = 2"
    )
    changed = {"changed_at": "2024-01-02 00:00:00.000000Z", "added": 5}
    # With another column, rows of the last value are others
    kept = {"added": None}
    assert run() == {"origin.t": [{"id": 0} | row | kept, {"id": 1} | row | kept, {"id": 2} | row | changed]}
    assert run() == {}
    postgres.execute("DROP SCHEMA origin CASCADE")


@pytest.mark.nightly
def test_tables_whose_rows_or_columns_the_database_refuses_are_paused_and_others_go_on(
    spark, postgres, connection, broker, make_topic, tmp_path, monkeypatch
):
    topic, dead = make_topic(), make_topic()

    def yaml_of(source):
        return f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {source}
  scan.startup.mode: earliest-offset
  scan.max.pre.fetch.records: 0
transform: [{{source-table: 'failing.\\.*', primary-keys: id}}]
sink: {{type: jdbc, url: '{postgres.url}', username: tests, password: {postgres.properties["password"]}}}
pipeline:
  table.failure.behavior: pause
  dirty-data.collector: {{type: topic, topic: {dead if source == topic else make_topic()}}}
"""

    def send(*rows):
        contents = [
            {"after": {"id": id_, "n": n}, "op": "c", "source": {"db": "failing", "table": table}}
            for table, id_, n in rows
        ]
        produce(broker.bootstrap_servers, topic, [{"value": json.dumps(each).encode()} for each in contents])

    def run(source=topic, **given):
        pipeline = Pipeline.from_yaml(yaml_of(source))
        running = pipeline.run(spark, checkpoint_location=str(tmp_path / source), once=True, **given)
        running.await_termination()
        return running.progress

    def rows():
        found = {table: postgres.rows(f"SELECT * FROM failing.{table} ORDER BY id") for table in "abc"}
        return {table: [tuple(row.values()) for row in each] for table, each in found.items()}

    def letters():
        sent = [json.loads(message.value()) for message in consume(broker.bootstrap_servers, dead)]
        return [(each["source"]["table"], *each["after"].values()) for each in sent]

    add_drivers(spark)
    send(("a", 1, 5), ("b", 1, 5), ("c", 1, 5))
    run()
    postgres.execute("ALTER TABLE failing.a ADD CONSTRAINT positive CHECK (n > 0)")
    postgres.execute("CREATE VIEW failing.seen AS SELECT n FROM failing.c")
    refused = [("a", 2, -1), ("a", 3, 1), ("c", 2, 2.5)]
    send(*refused, ("b", 2, 2))
    with monkeypatch.context() as patched:
        write = JdbcPipelineSink.write

        def fail_behind(sink, batch):
            write(sink, batch)
            raise RuntimeError("killed behind the transaction")

        patched.setattr(JdbcPipelineSink, "write", fail_behind)
        with pytest.raises(StreamingQueryException, match="killed behind the transaction"):
            run()
    # The repeated micro-batch pauses the same tables, without asking the database again
    progress = run()
    assert rows() == {"a": [(1, 5)], "b": [(1, 5), (2, 2)], "c": [(1, 5)]}
    assert sorted(progress.paused) == ["failing.a", "failing.c"]
    assert "positive" in progress.paused["failing.a"]
    assert "view" in progress.paused["failing.c"]
    assert sorted(letters()) == sorted(refused * 2)

    # The tables come back: without the causes, another pipeline reads what was kept
    postgres.execute("ALTER TABLE failing.a DROP CONSTRAINT positive")
    postgres.execute("DROP VIEW failing.seen")
    assert run(dead).paused == {}
    send(("a", 4, 4), ("c", 3, 0.5))
    assert run(resume_tables=["failing.a", "failing.c"]).paused == {}
    assert rows() == {
        "a": [(1, 5), (2, -1), (3, 1), (4, 4)],
        "b": [(1, 5), (2, 2)],
        "c": [(1, 5.0), (2, 2.5), (3, 0.5)],
    }
