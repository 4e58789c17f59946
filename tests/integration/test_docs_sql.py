"""The SQL of docs runs as it stands, but for addresses: brokers and folders."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from millrace_sql import TableEnvironment
from millrace_sql.parser import parse
from millrace_sql.render import render
from millrace_sql.statements import CreateTable
from support.admin import delete_topics
from support.kafka import produce
from support.waiting import PATIENCE_S

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^(?:<!-- planned only: (.+) -->\n)?```sql\n(.*?)^```", re.MULTILINE | re.DOTALL)
TOPICS = ("orders", "events", "customers")


class Snippet(NamedTuple):
    """A block of SQL, and why it cannot run here, if it cannot."""

    planned_only: str
    script: str


def snippets(page: str) -> list[Snippet]:
    return [Snippet(*found) for found in BLOCK.findall((DOCS / page).read_text("utf-8"))]


@pytest.fixture(scope="module")
def _topics(broker) -> Iterator[None]:
    for topic in TOPICS:
        broker.create_topic(topic, 2)
    order = {"id": 1, "country": "de", "amount": 60.0, "customer": 7, "document": '{"customer": {"name": "Bob"}}'}
    produce(broker.bootstrap_servers, "orders", [{"value": json.dumps(order).encode(), "timestamp": 1704067200000}])
    yield
    delete_topics(broker.bootstrap_servers, TOPICS)


@pytest.fixture
def env(spark, _topics) -> Iterator[TableEnvironment]:
    yield TableEnvironment(spark, config={"execution.runtime-mode": "batch"})
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def here(broker, tmp_path):
    """Put the addresses of this test into a script."""

    def replaced(script: str) -> str:
        script = script.replace("localhost:9092", broker.bootstrap_servers)
        return re.sub(r"'(s3a://bucket|/lake)/", f"'{tmp_path}/", script)

    return replaced


WRITTEN = {
    "orders": "VALUES (2, 'fr', 120.0)",
    "events": "VALUES (5, TIMESTAMP'2024-01-01 00:00:00Z', map('trace', X'0102'))",
    "customers": "VALUES (1, 'Bob'), (1, 'Bobby'), (2, 'Ann')",
    "out": "VALUES (1, 'Bob')",
    "archive": "VALUES (1, 'de'), (2, 'fr')",
}
"""Rows for the tables of the page of connectors that can be written."""

READ = {
    "orders": ("SELECT id, country, amount FROM orders ORDER BY id", [(1, "de", 60.0), (2, "fr", 120.0)]),
    "events": (
        "SELECT id, unix_millis(event_time), hex(headers['trace']), `offset` FROM events",
        [(5, 1704067200000, "0102", 0)],
    ),
    "customers": ("SELECT * FROM customers ORDER BY id", [(1, "Bobby"), (2, "Ann")]),
    "clicks": (
        "SELECT count(*), count(page) = count(*), max(id), min(price) >= 1, max(price) <= 99 FROM clicks "
        "/*+ OPTIONS('fields.id.end' = '1000') */",
        [(1_000, True, 1_000, True, True)],
    ),
    "archive": (
        "SELECT id, country, contains(`file.path`, concat('country=', country)) FROM archive ORDER BY id",
        [(1, "de", True), (2, "fr", True)],
    ),
    "order_archive": ("SELECT id, country, year FROM order_archive WHERE id = 1", [(1, "de", 2024)]),
}
"""Queries of the tables of the page of connectors that can be read, and their rows."""


def test_the_page_of_connectors_runs(env, here, capsys):
    planned: list[str] = []
    for snippet in snippets("sql-connectors.md"):
        for statement in parse(here(snippet.script)):
            assert isinstance(statement, CreateTable)
            name = statement.table.parts[-1]
            env.execute_sql(render(statement)).wait(timeout_ms=int(PATIENCE_S * 1000))
            if snippet.planned_only:
                planned.append(name)
                assert name in env.explain_sql(f"SELECT * FROM {name}")
                continue
            assert name in WRITTEN.keys() | READ.keys()
            if name in WRITTEN:
                columns = "(id, event_time, headers) " if name == "events" else ""
                env.execute_sql(f"INSERT INTO {name} {columns}{WRITTEN[name]}")
            if name in READ:
                query, rows = READ[name]
                assert [tuple(row) for row in env.sql_query(query).collect()] == rows
    assert planned == ["countries"]
    assert capsys.readouterr().out.splitlines() == ["out> +I[1, Bob]"]


def test_the_page_of_queries_runs(env, here, broker):
    orders = """CREATE TABLE orders (
        id BIGINT, customer BIGINT, amount DOUBLE, document STRING,
        ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL
    ) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
        'format' = 'json', 'scan.startup.mode' = 'earliest-offset')"""
    env.execute_sql(here(orders))
    snippet, first_rows = snippets("sql-dialect.md")
    windows, sessions, documents = (env.sql_query(render(each)).collect() for each in parse(snippet.script))
    (first, *_) = sorted(windows)
    assert (first.window_end - first.window_start).seconds == 300
    assert first.customers == 1
    (session,) = (row for row in sessions if row.customer == 7)
    assert (session.visits, (session.window_end - session.window_start).seconds) == (1, 1800)
    (document,) = (row for row in documents if row.id == 1)
    assert (document.name, bytes(document.raw)) == ("Bob", b'{"customer": {"name": "Bob"}}')
    (newest,) = (env.sql_query(render(each)).collect() for each in parse(first_rows.script))
    customers = [row.customer for row in newest]
    assert 7 in customers
    assert len(customers) == len(set(customers))


def test_the_table_with_a_password_is_planned(spark, broker, monkeypatch):
    monkeypatch.setenv("BOOTSTRAP_SERVERS", broker.bootstrap_servers)
    env = TableEnvironment(spark, secret_values={"kafka_password": "secret"})
    (snippet,) = (snippet for snippet in snippets("sql.md") if snippet.planned_only)
    env.execute_script(snippet.script)
    assert "fields=[id], changelogMode=[I]" in env.explain_sql("SELECT * FROM payments")


BEFORE = """
    CREATE DATABASE shop;
    CREATE DATABASE lake;
    CREATE TABLE orders (id BIGINT, country STRING, amount DOUBLE) WITH (
      'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json',
      'scan.startup.mode' = 'earliest-offset'
    );
    CREATE TABLE counts (country STRING, orders BIGINT) WITH ('connector' = 'print');
    CREATE TABLE countries (code STRING, name STRING) WITH ('connector' = 'print');
    CREATE TABLE large_orders WITH ('connector' = 'blackhole') LIKE orders (EXCLUDING OPTIONS);
    CREATE TABLE small_orders WITH ('connector' = 'blackhole') LIKE orders (EXCLUDING OPTIONS);
    CREATE TABLE days (id BIGINT, amount DOUBLE, day DATE) PARTITIONED BY (day) WITH (
      'connector' = 'filesystem', 'path' = '/lake/days', 'format' = 'parquet'
    );
"""
"""Tables that the page of statements takes for granted."""


ACCOUNTS = "CREATE TEMPORARY VIEW accounts AS SELECT 1 AS id, 'DE89' AS iban, 'two words' AS note;"


@pytest.fixture
def _functions(tmp_path, monkeypatch):
    """The functions of the page of statements, in the files that it names."""
    (tmp_path / "shop").mkdir()
    page = (DOCS / "sql.md").read_text("utf-8")
    code = re.search(r"^```python\n(from collections.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    (tmp_path / "shop" / "functions.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield
    for name in ("shop", "shop.functions"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("_functions")
def test_the_page_of_statements_runs(spark, env, here):
    first, *others = (here(snippet.script) for snippet in snippets("sql.md") if not snippet.planned_only)
    catalog = here("CREATE CATALOG topics WITH ('type' = 'kafka', 'properties.bootstrap.servers' = 'localhost:9092');")
    # Each block is an example of its own; those of changed tables and of settings have the first one's table
    for before, script in zip(["", first, "", ACCOUNTS, "", f"{first} {catalog}"], [first, *others], strict=True):
        block = TableEnvironment(spark, config={"execution.runtime-mode": "batch"})
        block.execute_script(here(BEFORE) + before)
        for statement in parse(script):
            block.execute_sql(render(statement)).wait(timeout_ms=int(PATIENCE_S * 1000))
