"""Pipelines into every kind of sink, whose driver is killed between the steps of their micro-batches.

One driver runs all of them, and dies when each has reached a point of its own: between the schemas and the rows, amid
the tables of a schema change, between the files and the commit, between the commits of two tables.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from millrace_cdc import Pipeline
from millrace_cdc.runtime.schema_state import SchemaState
from support.families import Family
from support.iceberg import Warehouse, add_iceberg, iceberg_jar
from support.jdbc_drivers import add_drivers, driver_jars
from support.kafka import consume, produce
from support.postgres import Postgres
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "run_doomed_pipelines.py"
ROUNDS = [
    {
        "kafka": "schemas are stored",
        "database": "amid tables of database",
        "iceberg": "amid tables of Iceberg",
        "delta": "amid tables of Delta",
        "parquet": "files of parquet are written",
    },
    {
        "kafka": "micro-batch is written",
        "database": "rows are in database",
        "iceberg": "files of Iceberg are written",
        "delta": "rows of Delta are read",
        "parquet": "between tables of parquet",
    },
    {
        "kafka": "schemas are not stored",
        "database": "amid columns of database",
        "iceberg": "between commits of Iceberg",
        "delta": "between commits of Delta",
        "parquet": "amid wider files of parquet",
    },
]
TABLES = 3
ROWS = 40
# What each of the tables has in the end
EXPECTED = {
    f"t{table}": [(n, None if n < ROWS else 0.5) for n in range(2 * ROWS) if n % TABLES == table]
    for table in range(TABLES)
}

pytestmark = pytest.mark.timeout(1800)


class Origin:
    """A database that is a source: tables ``a`` and ``b``, read by a column that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._change("CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER, version INTEGER)")
        self._change("CREATE TABLE b (id INTEGER PRIMARY KEY, n INTEGER, version INTEGER)")
        self.insert(range(ROWS))

    def insert(self, numbers: range) -> None:
        for table in "ab":
            self._change(*(f"INSERT INTO {table} (id, n, version) VALUES ({n}, {n}, {n})" for n in numbers))

    def grow(self) -> None:
        """Make a column of one table wider, and add one; the last row that was read changes, as others do."""
        self._change(
            "ALTER TABLE a RENAME TO old",
            "CREATE TABLE a (id INTEGER PRIMARY KEY, n REAL, version INTEGER, note TEXT)",
            "INSERT INTO a SELECT id, n, version, NULL FROM old",
            "DROP TABLE old",
            f"UPDATE a SET n = 0.5, version = {10 * ROWS} + id, note = 'x' WHERE id % 2 = 1",
        )

    def rows(self, table: str) -> list[tuple]:
        """Return the rows that a table has now."""
        with sqlite3.connect(self.path) as connection:
            return connection.execute(f"SELECT id, n, version FROM {table}").fetchall()

    def _change(self, *statements: str) -> None:
        with sqlite3.connect(self.path) as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture
def places(connection, make_topic, postgres, tmp_path) -> dict[str, Any]:
    """The pipelines, and what they read and write."""
    origin, target = make_topic(2), make_topic(2)
    servers = connection["properties.bootstrap.servers"]
    topic = f"""
source: {{type: kafka, properties.bootstrap.servers: '{servers}', topic: {origin}, scan.startup.mode: earliest-offset,
         scan.max.pre.fetch.records: 0}}
"""
    password = postgres.properties["password"]
    sinks = {
        "kafka": f"{{type: kafka, properties.bootstrap.servers: '{servers}', topic: {target}, "
        f"sink.delivery-guarantee: exactly-once, sink.transactional-id-prefix: {target}}}",
        "database": f"{{type: jdbc, url: '{postgres.url}', username: tests, password: {password}}}",
        "iceberg": f"{{type: iceberg, catalog.properties.type: hadoop, "
        f"catalog.properties.warehouse: '{tmp_path}/ice'}}",
        "delta": f"{{type: delta, path: '{tmp_path}/delta'}}",
    }
    yaml = {name: f"{topic}sink: {sink}\n" for name, sink in sinks.items()}
    for name in ("iceberg", "delta"):
        # The other tables have no primary key, which would hide a row that is there twice
        yaml[name] += "transform: [{source-table: shop.t0, projection: '*', primary-keys: id}]\n"
    yaml["parquet"] = f"""
source: {{type: jdbc, url: 'jdbc:sqlite:{tmp_path}/origin.db', tables: '[ab]', scan.incremental.column: version,
         scan.poll.interval: 1 s}}
sink: {{type: parquet, path: '{tmp_path}/parquet'}}
"""
    return {"origin": origin, "target": target, "yaml": yaml}


def test_a_driver_killed_at_every_step_leaves_each_change_once_and_no_half_schema_change(
    spark, broker, places, postgres, tmp_path
):
    origin = Origin(tmp_path / "origin.db")
    checkpoints = {name: str(tmp_path / "checkpoints" / name) for name in places["yaml"]}
    jars = [str(each) for each in (iceberg_jar(), *driver_jars())]

    def send(numbers: range, **more: Any) -> None:
        contents = [
            {"after": {"id": n, **more}, "op": "c", "source": {"db": "shop", "table": f"t{n % TABLES}"}}
            for n in numbers
        ]
        messages = [{"value": json.dumps(each).encode(), "partition": n % 2} for n, each in enumerate(contents)]
        produce(broker.bootstrap_servers, places["origin"], messages)

    def killed(points: dict[str, str]) -> None:
        pipelines = {
            name: {"yaml": places["yaml"][name], "checkpoint": checkpoints[name], "point": point}
            for name, point in points.items()
        }
        command = [sys.executable, str(PROGRAM), json.dumps({"jars": jars, "pipelines": pipelines})]
        with Family(command, tmp_path / points["kafka"]) as driver:
            wait_until(lambda: not driver.is_running(), "the driver to end", 600)
            console = driver.console.read_text()
        assert "all points are reached" in console, console

    def finish(name: str) -> None:
        pipeline = Pipeline.from_yaml(places["yaml"][name])
        pipeline.run(spark, checkpoint_location=checkpoints[name], once=True).await_termination()

    send(range(ROWS))
    killed(ROUNDS[0])
    # No transaction, no table
    assert postgres.rows("SELECT * FROM pg_tables WHERE schemaname = 'shop'") == []
    # What comes meanwhile is for a later micro-batch
    origin.insert(range(ROWS, ROWS + 10))
    killed(ROUNDS[1])
    # A database has no log: what a repeated micro-batch shall read again must still be there
    finish("parquet")
    assert postgres.rows("SELECT batch FROM millrace_pipelines") == [{"batch": 0}]
    send(range(ROWS, 2 * ROWS), late=0.5)
    origin.grow()
    killed(ROUNDS[2])

    add_iceberg(spark)
    add_drivers(spark)
    for name in places["yaml"]:
        finish(name)

    found = {
        "kafka": in_topic(broker.bootstrap_servers, places["target"]),
        "database": in_database(postgres),
        "iceberg": in_iceberg(spark, tmp_path / "ice"),
        "delta": in_delta(tmp_path / "delta"),
    }
    for name, tables in found.items():
        assert tables == EXPECTED, name
    check_parquet(spark, tmp_path / "parquet", origin)
    state = SchemaState.from_text(Path(checkpoints["kafka"], "millrace-pipeline", "2").read_text(), max_columns=10)
    assert {name: table.version for name, table in state.sinks.items()} == {f"shop.{name}": 2 for name in EXPECTED}


def in_topic(servers: str, topic: str) -> dict[str, list]:
    tables: dict[str, list] = {name: [] for name in EXPECTED}
    for message in consume(servers, topic):
        value = json.loads(message.value())
        row = value["after"]
        assert list(row) == (["id"] if row["id"] < ROWS else ["id", "late"])
        tables[value["source"]["table"]].append((row["id"], row.get("late")))
    return {name: sorted(rows) for name, rows in tables.items()}


def in_database(postgres: Postgres) -> dict[str, list]:
    def rows(table: str) -> list[tuple]:
        return sorted((row["id"], row["late"]) for row in postgres.rows(f"SELECT id, late FROM shop.{table}"))

    return {name: rows(name) for name in EXPECTED}


def in_iceberg(spark: Any, path: Path) -> dict[str, list]:
    found = {name: table["rows"] for name, table in Warehouse(spark, str(path), "shop").tables().items()}
    pairs = {name: [row.strip("()").split(", ") for row in rows] for name, rows in found.items()}
    return {
        name: sorted((int(id_), None if late == "null" else float(late)) for id_, late in rows)
        for name, rows in sorted(pairs.items())
    }


def in_delta(path: Path) -> dict[str, list]:
    def rows(name: str) -> list[tuple]:
        table = DeltaTable(path / "shop" / name).to_pyarrow_table()
        return sorted((row["id"], row["late"]) for row in table.to_pylist())

    return {name: rows(name) for name in EXPECTED}


def check_parquet(spark: Any, path: Path, origin: Origin) -> None:
    """Compare all changes with the rows that the tables of the origin have, and had."""
    had = {(n, n, n) for n in range(ROWS + 10)}
    for name in "ab":
        has = set(origin.rows(name))
        found = spark.read.parquet(str(path / name))
        assert found.where("row_kind <> '+I'").count() == 0
        rows = [tuple(row) for row in found.select("id", "n", "version").collect()]
        assert len(rows) == len(set(rows)), name
        # Which of the changed rows were read before is the chance of a repeated micro-batch
        assert has | {row for row in had if row[0] < ROWS} <= set(rows) <= has | had, name
        assert ("note" in found.columns) == (name == "a")
