"""Pipelines keep the digits of numbers and the types that are declared for columns."""

from __future__ import annotations

import base64
import json
from decimal import Decimal

import pytest

from millrace_cdc import Pipeline
from support.kafka import produce

DIGITS = 38
NUMBERS = [Decimal("12345678901234567890.123456789012345678"), Decimal("12345678901234567890.123456789012345679")]


@pytest.fixture
def run(spark, broker, make_topic, tmp_path):
    """Run a pipeline of a topic's messages until their end; return the topic and the tables of the sink."""

    def run(messages, transform, source):
        topic = make_topic()
        produce(broker.bootstrap_servers, topic, [{"value": value} for value in messages])
        text = f"""
source:
  type: kafka
  properties.bootstrap.servers: {broker.bootstrap_servers}
  topic: {topic}
  scan.startup.mode: earliest-offset
{source}
transform: [{transform}]
sink: {{type: values, materialized.in.memory: true}}
"""
        running = Pipeline.from_yaml(text).run(spark, checkpoint_location=str(tmp_path / topic), once=True)
        running.await_termination()
        return topic, running.sink.tables

    return run


def unscaled(number: Decimal) -> str:
    return base64.b64encode(int(str(number).replace(".", "")).to_bytes(16, "big", signed=True)).decode()


def debezium(number: Decimal) -> bytes:
    parameters = {"scale": "18", "connect.decimal.precision": str(DIGITS)}
    decimal = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": parameters}
    row = {"type": "struct", "fields": [{"field": "q", **decimal}, {"field": "n", "type": "string"}]}
    schema = {"type": "struct", "fields": [{**row, "field": "before"}, {**row, "field": "after"}]}
    after = {"q": unscaled(number), "n": "a"}
    payload = {"before": None, "after": after, "op": "c", "source": {"db": "shop", "table": "o"}}
    return json.dumps({"schema": schema, "payload": payload}).encode()


def test_decimals_keep_their_digits_behind_filters_and_expressions_and_as_keys(run):
    rule = r"{source-table: shop.o, projection: '\*, q + 0 AS r', filter: q > 0, primary-keys: q}"
    source = "  value.format: debezium-json\n  debezium-json.schema-include: true"
    _, tables = run(map(debezium, NUMBERS), rule, source)
    assert [row["q"] for row in tables["shop.o"]] == NUMBERS
    assert [row["n"] for row in tables["shop.o"]] == ["a", "a"]


def test_numbers_of_json_keep_their_digits_in_a_column_of_decimals(run):
    source = "  value.format: json\n  json.infer-schema.fixed-types: p DECIMAL(38, 18)"
    messages = [f'{{"id":{id_},"p":{number}}}'.encode() for id_, number in enumerate(NUMBERS)]
    topic, tables = run(messages, r"{source-table: '\.*.\.*.\.*', projection: '\*', primary-keys: id}", source)
    assert tables[topic] == [{"id": id_, "p": number} for id_, number in enumerate(NUMBERS)]


@pytest.mark.parametrize("strategy", ["static", "continuous"])
def test_declared_types_stay_while_values_fit(run, capsys, strategy):
    row = {
        "id": 1,
        "p": 12.5,
        "b": "AAEC",
        "f": 1.5,
        "t": "10:00:00",
        "ts": "2024-01-01 10:00:00",
        "n": "abc",
        "c": "ab",
    }
    columns = "id INT NOT NULL, p DECIMAL(10, 2), b BYTES, f FLOAT, t TIME(0), ts TIMESTAMP(3), n VARCHAR(5), c CHAR(2)"
    source = f"""  value.format: debezium-json
  schema.inference.strategy: {strategy}
  scan.value.initial-schemas.ddls: CREATE TABLE shop.o ({columns}, PRIMARY KEY (id) NOT ENFORCED)
"""
    change = {"before": None, "after": row, "op": "c", "source": {"db": "shop", "table": "o"}}
    _, tables = run([json.dumps(change).encode()], r"{source-table: '\.*.\.*', projection: '\*'}", source)
    assert tables["shop.o"] == [row]
    first, *others = capsys.readouterr().out.splitlines()
    assert not [line for line in others if line.startswith("ALTER")]
    printed = columns.replace("TIMESTAMP(3)", "TIMESTAMP(6)")
    assert first == f"CREATE TABLE shop.o ({printed}, PRIMARY KEY (id) NOT ENFORCED);"
