"""A database with a real Debezium, copied while its columns change and drivers are killed; run by ``tox -e soak``.

It has 20 tables, most with PostgreSQL's default replica identity: updates come without their old row, and without large
values that they leave as they were. The environment may say how many kills and schema changes there are, the seed, and
which sinks there are.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from millrace_broker import KafkaBroker
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_cdc.connectors.iceberg.catalog import PACKAGE
from support.copied_tables import check_equal
from support.debezium import Debezium
from support.iceberg_tables import IcebergTables
from support.kafka import consume, wait_for_markers
from support.killed_pipelines import PipelineFile, RunningPipelines
from support.maven import jar_of
from support.origin import TABLES, Origin
from support.pipeline_copies import parquet_rows, sqlite_rows
from support.postgres import Postgres
from support.toasted_tables import TOASTED_TABLES
from support.waiting import wait_until

SCHEMA_CHANGES = int(os.environ.get("SOAK_SCHEMA_CHANGES", "200"))
KILLS = int(os.environ.get("SOAK_KILLS", "20"))
LOGS_OLD_ROWS = os.environ.get("SOAK_REPLICA_IDENTITY", "default") == "full"
SEED = int(os.environ.get("SOAK_SEED", str(random.SystemRandom().randrange(1_000_000))))
NAME = "shop"
ORIGIN_TABLES = {**TABLES, **TOASTED_TABLES}
# Rows of a table without primary key cannot be updated
KEYED = [name for name, table in ORIGIN_TABLES.items() if table.key or table.is_log]
# Logs of changes have no earlier rows with the values that a change leaves as they were
LOGGED = [name for name, table in ORIGIN_TABLES.items() if LOGS_OLD_ROWS or table.needs_old_rows or not table.toasted]
COPIED = {"topic": [*LOGGED, "marks"], "parquet": [name for name in LOGGED if name in KEYED]}
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
sink:
"""
SINKS = {
    "database": """
  type: jdbc
  url: jdbc:postgresql://127.0.0.1:{port}/copies
  username: {user}
  password: {password}
  schema-name: copies
""",
    "topic": """
  type: kafka
  properties.bootstrap.servers: {servers}
  topic: copies
  exclude.schema.changes: truncate.table
  sink.updates-without-old-row: write
  sink.delivery-guarantee: exactly-once
  sink.transactional-id-prefix: copies
""",
    "file": """
  type: jdbc
  url: jdbc:sqlite:{folder}/copies.db
""",
    "parquet": """
  type: parquet
  path: {folder}/changes
  exclude.schema.changes: truncate.table
  sink.updates-without-old-row: write
""",
    "iceberg": """
  type: iceberg
  catalog.properties.type: hadoop
  catalog.properties.warehouse: {folder}/warehouse
  sink.delete-files.warning: 100000
""",
    "delta": """
  type: delta
  path: {folder}/lake
""",
}
CHOSEN = os.environ.get("SOAK_SINKS", ",".join(SINKS)).split(",")
PACKAGES = {"database": PostgreSQL.package, "file": SQLite.package, "iceberg": PACKAGE}
Change = tuple[str, dict[str, Any] | None, dict[str, Any] | None]


def files_of(postgres: Postgres, servers: str, folder: Path) -> list[PipelineFile]:
    """Return the pipelines, one for each sink."""
    login = {"port": postgres.port, "user": postgres.properties["user"], "password": postgres.properties["password"]}
    found = []
    for name in CHOSEN:
        tables = COPIED.get(name, KEYED)
        keys = "\n".join(
            f"  - {{source-table: postgres.public.{table}, primary-keys: '{', '.join(ORIGIN_TABLES[table].key)}'}}"
            for table in tables
            if table in ORIGIN_TABLES and ORIGIN_TABLES[table].key
        )
        text = SOURCE.format(servers=servers, topics=rf"{NAME}\.public\.({'|'.join(tables)})", keys=keys)
        text += SINKS[name].format(servers=servers, folder=folder, **login)
        found.append(PipelineFile(name, text, jar_of(PACKAGES[name]) if name in PACKAGES else ()))
    return found


class Changes:
    """Random changes of the database, each time that it is called: schema changes come as kills do.

    Args:
        origin: The database.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._chance = random.Random(SEED)
        self._schema_changes = 0
        self._calls = 0

    def __call__(self, kill: int) -> None:
        """Change rows, and now and then columns, before some kill."""
        self._calls += 1
        if self._schema_changes * KILLS < SCHEMA_CHANGES * kill and self._chance.random() < 0.3:
            self._change_columns()
        self._origin.change_rows(self._chance.randrange(1, 40))
        if self._chance.random() < 0.01:
            self._origin.truncate("lists")
        time.sleep(self._chance.uniform(0, 0.4))

    def finish(self) -> None:
        """Make the schema changes that are left."""
        print(f"{self._schema_changes} schema changes while pipelines ran, {self._calls} calls", flush=True)
        while self._schema_changes < SCHEMA_CHANGES:
            self._change_columns()

    def _change_columns(self) -> None:
        self._origin.change_columns()
        self._schema_changes += 1


def check_topic(servers: str) -> None:
    """Check that the topic has the changes of each table as Debezium has written them, each once and in order."""
    found: dict[str, list[Change]] = {name: [] for name in COPIED["topic"]}
    wait_for_markers(servers, "copies")
    for table, change in changes(servers, "copies", DebeziumReader("copies")):
        found[table.rpartition(".")[2]].append(change)
    reader = DebeziumReader("t", DebeziumInferenceOptions(schema_include=True))
    for name, copies in found.items():
        originals = [change for _, change in changes(servers, f"{NAME}.public.{name}", reader)]
        for number, (original, copy) in enumerate(zip(originals, copies, strict=False)):
            assert is_same(original, copy), f"{name}: change {number} is {copy} instead of {original}"
        assert len(copies) == len(originals), f"{name}: {len(copies)} changes instead of {len(originals)}"
        print(f"topic: {len(copies)} changes of {name}", flush=True)


def changes(servers: str, topic: str, reader: DebeziumReader) -> Iterable[tuple[str, Change]]:
    """Yield the changes of a topic's rows, with their tables."""
    for message in consume(servers, topic):
        change = reader.parse(message.value())
        if isinstance(change, TableChange) and change.operation != "t":
            ((before, after),) = change.rows
            yield change.table, (change.operation, as_dict(before), as_dict(after))


def as_dict(row: Any) -> dict[str, Any] | None:
    """Return a row of its values that are not null: a copy may have other columns."""
    return None if row is None else {name: value for name, value in row.items() if value is not None}


def is_same(original: Any, copy: Any) -> bool:
    """Return whether the values of a copy are those of the original, as texts or as numbers."""
    if isinstance(original, dict):
        return (
            isinstance(copy, dict)
            and original.keys() == copy.keys()
            and all(is_same(value, copy[name]) for name, value in original.items())
        )
    if isinstance(original, list | tuple):
        return len(original) == len(copy) and all(map(is_same, original, copy))
    # Rows have the T of Debezium's ISO-8601, or a space as SQL
    if str(original).replace("T", " ") == str(copy).replace("T", " "):
        return True
    try:
        return Decimal(str(original)) == Decimal(str(copy))
    except InvalidOperation:
        return False


def last_truncation(servers: str, name: str) -> int:
    """Return the offset of the message behind which a table has its rows; 0 where it has never lost all."""
    reader = DebeziumReader("t", DebeziumInferenceOptions(schema_include=True))
    messages = consume(servers, f"{NAME}.public.{name}")
    parsed = ((message.offset(), reader.parse(message.value())) for message in messages)
    return max(
        (offset for offset, each in parsed if isinstance(each, TableChange) and each.operation == "t"), default=0
    )


def check_tables(postgres: Postgres, servers: str, origin: Origin, folder: Path) -> None:
    """Check the copies of all tables in all sinks."""
    with IcebergTables(folder / "warehouse") as iceberg:
        readers: dict[str, Callable[[str], Iterable[dict[str, Any]]]] = {
            "database": lambda name: postgres.rows(f'SELECT * FROM copies."{name}"', "copies"),
            "file": lambda name: sqlite_rows(folder / "copies.db", name),
            "parquet": lambda name: parquet_rows(
                folder / f"changes/postgres.public.{name}", ORIGIN_TABLES[name].key, last_truncation(servers, name)
            ),
            "iceberg": lambda name: iceberg.rows(f"postgres.public.{name}"),
            "delta": lambda name: DeltaTable(folder / f"lake/postgres/public/{name}").to_pyarrow_table().to_pylist(),
        }
        different = []
        for sink in (each for each in CHOSEN if each in readers):
            for name in COPIED.get(sink, KEYED):
                try:
                    check_equal(readers[sink](name), origin, name, has_nan=sink != "file")
                    print(f"{sink}: {name} is equal", flush=True)
                except AssertionError as error:
                    different.append(f"{sink}: {str(error)[:2000]}")
    assert not different, "\n".join(different)


@pytest.mark.timeout(7200)
def test_copies_equal_the_database_after_schema_changes_and_kills(tmp_path, tmp_path_factory):
    print(f"\nSOAK_SEED={SEED} SOAK_KILLS={KILLS} SOAK_SCHEMA_CHANGES={SCHEMA_CHANGES}", flush=True)
    with (
        KafkaBroker(data_dir=tmp_path_factory.mktemp("kafka")) as broker,
        Postgres(wal_level="logical", max_connections="200") as postgres,
    ):
        servers = broker.bootstrap_servers
        broker.create_topic("copies")
        postgres.execute("CREATE DATABASE copies")
        postgres.execute("CREATE SCHEMA copies", "copies")
        origin = Origin(postgres, SEED, ORIGIN_TABLES, logs_old_rows=LOGS_OLD_ROWS)
        origin.create()
        files = files_of(postgres, servers, tmp_path)
        changes = Changes(origin)
        with Debezium(postgres, servers, NAME, has_schemas=True) as debezium:
            debezium.wait_until_running()
            with RunningPipelines(files, tmp_path, SEED) as running:
                running.kill(KILLS, changes)
                changes.finish()
                origin.truncate("lists")
                position = origin.position()
                wait_until(lambda: origin.is_sent(NAME, position), "Debezium to send all changes")
                running.finish()
        check_tables(postgres, servers, origin, tmp_path)
        if "topic" in CHOSEN:
            check_topic(servers)
