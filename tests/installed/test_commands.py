"""The commands, by the program that the environment holds."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest

from support.jdbc_drivers import driver_jars
from support.kafka import consume, produce

ORDERS = [
    {"id": 1, "country": "de", "customer": "Ann", "amount": 60.0},
    {"id": 2, "country": "fr", "customer": "Bea", "amount": 120.0},
    {"id": 3, "country": "de", "customer": "Cid", "amount": 20.0},
    {"id": 4, "country": "de", "customer": "Ann", "amount": 90.0},
]

NEEDING_EXTRAS = {
    **{name: [f"millrace-formats[{name}]"] for name in ("avro", "avro-confluent", "json-confluent", "protobuf")},
    "aws-msk-iam": ["millrace-tokens[aws]"],
    "azure": ["millrace-tokens[azure]"],
    "debezium-avro-confluent": ["millrace-formats[avro-confluent]"],
    "delta": ["millrace-cdc[delta]"],
    "google": ["millrace-tokens[google]"],
    "protobuf-confluent": ["millrace-formats[protobuf-confluent]"],
}
"""Plugins whose libraries are extras, and how these are installed."""

SCRIPT = """
CREATE TABLE orders (id BIGINT, country STRING, customer STRING, amount DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{source}', 'properties.bootstrap.servers' = '{servers}',
  'scan.bounded.mode' = 'latest-offset', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE totals (country STRING, least DOUBLE, customers BIGINT, PRIMARY KEY (country) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{target}', 'properties.bootstrap.servers' = '{servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO totals SELECT country, MIN(amount), COUNT(DISTINCT customer) FROM orders GROUP BY country;
"""

PIPELINE = """
source:
  type: kafka
  properties.bootstrap.servers: {servers}
  topic: {topic}
  value.format: json
  scan.startup.mode: earliest-offset
sink:
  {sink}
transform:
  - source-table: {topic}
    projection: id, UPPER(country) AS country, amount * 2 AS twice
    filter: amount > 50
    primary-keys: id
route:
  - source-table: {topic}
    sink-table: shop.orders
"""


@pytest.fixture
def orders(broker, make_topic) -> str:
    """A topic of orders, keyed by their ids."""
    topic = make_topic()
    records = [{"key": json.dumps({"id": row["id"]}), "value": json.dumps(row)} for row in ORDERS]
    produce(broker.bootstrap_servers, topic, records)
    return topic


def pipeline(folder: Path, servers: str, topic: str, sink: str) -> Path:
    file = folder / "shop.yaml"
    file.write_text(PIPELINE.format(servers=servers, topic=topic, sink=sink))
    return file


def test_sql_groups_an_upsert_table_by_what_needs_all_values(plain, broker, orders, make_topic, tmp_path):
    # Removed from the table again, so that another one is the least
    produce(broker.bootstrap_servers, orders, [{"key": json.dumps({"id": 3}), "value": None}])
    target = make_topic()
    script = tmp_path / "totals.sql"
    script.write_text(SCRIPT.format(source=orders, target=target, servers=broker.bootstrap_servers))

    plain.output("millrace", "sql", "-f", script, cwd=tmp_path)

    written = [json.loads(each.value()) for each in consume(broker.bootstrap_servers, target) if each.value()]
    assert {row["country"]: row for row in written} == {
        "de": {"country": "de", "least": 60.0, "customers": 1},
        "fr": {"country": "fr", "least": 120.0, "customers": 1},
    }


def test_a_pipeline_prints_transformed_rows(plain, broker, orders, tmp_path):
    file = pipeline(tmp_path, broker.bootstrap_servers, orders, "type: values")

    printed = plain.output("millrace", "run", file, "--once", cwd=tmp_path).splitlines()

    assert [line for line in printed if line.startswith("+")] == [
        '+I shop.orders {"id":1,"country":"DE","twice":120.0}',
        '+I shop.orders {"id":2,"country":"FR","twice":240.0}',
        '+I shop.orders {"id":4,"country":"DE","twice":180.0}',
    ]


def test_a_pipeline_writes_into_a_database(plain, broker, orders, tmp_path):
    database = tmp_path / "shop.db"
    file = pipeline(tmp_path, broker.bootstrap_servers, orders, f"{{type: jdbc, url: 'jdbc:sqlite:{database}'}}")
    jars = ",".join(map(str, driver_jars()))

    plain.output("millrace", "run", file, "--once", "--conf", f"spark.jars={jars}", cwd=tmp_path)

    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT id, country, twice FROM orders ORDER BY id").fetchall()
    assert rows == [(1, "DE", 120.0), (2, "FR", 240.0), (4, "DE", 180.0)]


def test_the_doctor_finds_no_error(plain, broker, tmp_path):
    shown = plain.output("millrace", "doctor", "--bootstrap-servers", broker.bootstrap_servers, cwd=tmp_path)

    assert shown.splitlines()[-1].startswith("0 errors, ")


def test_the_doctor_checks_executors(plain, broker, orders, tmp_path):
    where = ("--bootstrap-servers", broker.bootstrap_servers, "--topic", orders, "--master", "local[2]")

    told = json.loads(plain.output("millrace", "doctor", *where, "--json", cwd=tmp_path))

    assert [each for each in told["findings"] if each["level"] == "error"] == []
    checked = {each["check"] for each in told["findings"] if each["seen_from"] != "driver"}
    assert checked >= {"python", "packages", "clock", "tcp", "login", "ports"}


def test_a_pipeline_is_planned(plain, broker, orders, tmp_path):
    file = tmp_path / "print.yaml"
    # Expressions would start Spark, as a run does
    file.write_text(
        PIPELINE.partition("transform:")[0].format(servers=broker.bootstrap_servers, topic=orders, sink="type: values")
    )

    planned = json.loads(plain.output("millrace", "plan", file, "--json", cwd=tmp_path))

    (table,) = planned["tables"]
    assert {column["name"]: column["type"] for column in table["columns"]} == {
        "id": "BIGINT",
        "country": "STRING",
        "customer": "STRING",
        "amount": "DOUBLE",
    }


def test_a_topic_is_shown_as_rows(plain, broker, orders, tmp_path):
    where = ("--bootstrap-servers", broker.bootstrap_servers, "--where", "amount > 100", "--json")

    (line,) = plain.output("millrace", "peek", orders, *where, cwd=tmp_path).splitlines()

    shown = json.loads(line)
    assert {name: shown[name] for name in ORDERS[1]} == ORDERS[1]


def test_plugins_that_need_an_extra_name_it(plain, tmp_path):
    listed = json.loads(plain.output("millrace", "plugins", "--json", cwd=tmp_path))

    assert listed["failures"] == []
    assert [each for each in listed["plugins"] if each["error"]] == []
    named = {
        each["name"]: re.findall(r"pip install '(\S+)'$", each["missing"])
        for each in listed["plugins"]
        if each["missing"]
    }
    assert named == NEEDING_EXTRAS
