"""The SQL examples of the reference's pages run as written, but for addresses: brokers, topics, folders, users."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from millrace_sql import TableEnvironment
from millrace_sql.parser import parse
from millrace_sql.render import render
from millrace_sql.statements import MetadataColumn, PhysicalColumn
from support.admin import delete_topics
from support.cases import REFERENCE
from support.kafka import consume, produce
from support.reference_sql import ALTERNATIVES, DEFAULTS, at_brokers, complete_examples, examples

EXAMPLES = complete_examples()

TABLES = [
    "000:221", "000:239", "001:37", "001:53", "001:109", "001:127", "001:156", "001:175", "001:334", "001:349",
    "001:384", "001:404", "001:465", "001:485",
]  # fmt: skip
VALUES = {"BIGINT": 7, "INT": 7, "STRING": "seven"}

pytestmark = pytest.mark.cases

Run = Callable[..., list[Any]]


@pytest.fixture
def env(spark):
    settings = {"table.builtin-catalog-name": "vvp", "table.builtin-database-name": "default"}
    yield TableEnvironment(spark, config=settings)
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def run(env, broker) -> Run:
    """Run an example with other options in place of addresses, by table."""

    def run(name: str, options: Mapping[str, Mapping[str, str]]) -> list[Any]:
        servers = broker.bootstrap_servers
        return [env.execute_sql(render(at_brokers(each, servers, options))) for each in parse(EXAMPLES[name])]

    return run


def to_here(result) -> None:
    """Let a stream write what is there, and end it."""
    result.query.processAllAvailable()
    result.get_job_client().cancel().result()


def test_every_example_is_run():
    secured = {"000:762", "000:777", "001:697", "001:712", "001:730", "001:755", "004:117"}
    named = {*TABLES, *secured, "004:97", "004:107", "000:252", "000:897", "000:909", "000:921", "000:1016"}
    copies = {"000:927", "000:941", "000:950", "000:966", "000:978", "000:994"}
    # Descriptions of tables within a pipeline of YAML, which have no connector
    assert EXAMPLES.keys() - named - copies == {"000:2256"}


@pytest.mark.nightly
@pytest.mark.parametrize("name", TABLES)
def test_a_table_reads_what_its_topic_holds(name, env, run, make_topic, broker):
    (statement,) = parse(EXAMPLES[name])
    topic = make_topic()
    given = {key: value for key, value in DEFAULTS.items() if key not in statement.options}
    if "value.format" in statement.options:
        given.pop("format")
    run(name, {statement.table.parts[-1]: {**given, "topic": topic}})
    columns = {column.name: column for column in statement.columns}
    physical = {name: VALUES[each.type.kind] for name, each in columns.items() if isinstance(each, PhysicalColumn)}
    # An example with dots for columns gets those of its messages
    physical = physical or {"id": 7}
    produce(broker.bootstrap_servers, topic, [_message({**given, **statement.options}, physical)])

    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    table = statement.table.parts[-1]
    with env.execute_sql(f"SELECT * FROM {table}").collect() as rows:
        (row,) = (each.asDict() for each in rows)
    assert {name: row[name] for name in physical} == physical
    metadata = {each.key or name for name, each in columns.items() if isinstance(each, MetadataColumn)}
    expected = {"topic": topic, "partition": 0, "offset": 0, "value.source.table": "t"}
    by_key = {each.key or name: row[name] for name, each in columns.items() if isinstance(each, MetadataColumn)}
    assert {key: by_key[key] for key in metadata & expected.keys()} == {
        key: expected[key] for key in metadata & expected.keys()
    }
    assert by_key.get("timestamp", "no such column") is not None


def _message(options: Mapping[str, str], row: Mapping[str, Any]) -> dict[str, bytes]:
    prefix, keys = options.get("key.fields-prefix", ""), options.get("key.fields", "").split(";")
    key = json.dumps({name.removeprefix(prefix): row[name] for name in keys if name}).encode()
    value: Any = {name: each for name, each in row.items() if not (prefix and name in keys)}
    value_format = options.get("value.format", options.get("format"))
    if value_format == "csv":
        return {"key": key, "value": ",".join(map(str, value.values())).encode()}
    if value_format == "debezium-json":
        value = {"before": None, "after": value, "op": "c", "source": {"table": "t", "ts_ms": 1}}
    return {"key": key, "value": json.dumps(value).encode()}


@pytest.mark.nightly
def test_000_252_a_sink_with_metadata_is_created(run):
    run("000:252", {"kafka_sink": {"topic": "nothing", "format": "json"}})


def test_000_example_1_reads_and_writes(env, run, make_topic, broker):
    source, sink = make_topic(), make_topic()
    group = {"properties.group.id": f"group-of-{source}", "properties.auto.offset.reset": "earliest"}
    run("000:897", {"kafka_source": {"topic": source, **group}})
    run("000:909", {"kafka_sink": {"topic": sink, **group}})
    produce(broker.bootstrap_servers, source, [{"value": b"1,Bob,33"}, {"value": b"2,Cindy,44"}])
    (result,) = run("000:921", {})
    to_here(result)
    assert [message.value().strip() for message in consume(broker.bootstrap_servers, sink)] == [
        b"1,Bob,33",
        b"2,Cindy,44",
    ]


COPIES = {
    "2": ("000:927", "000:941", {"id": 1, "nested": {"a": 2}}, {"id": 1, "nested.a": 2, "part": 0, "offset": 0}),
    "3": ("000:950", "000:966", {"name": "Bob", "more": 1.5}, {"key_id": 5, "val_name": "Bob", "val_more": 1.5}),
    "4": (
        "000:978",
        "000:994",
        {"distinct_id": 1, "properties": {"order_id": "a"}, "more": True},
        {"distinct_id": 1, "order_id": "a", "more": True},
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("number", COPIES)
def test_000_examples_2_to_4_synchronize(number, env, run, make_topic, broker, spark, tmp_path):
    source, target, message, expected = COPIES[number]
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"key": b'{"id": 5}', "value": json.dumps(message).encode()}])
    env.execute_sql("CREATE CATALOG hologres WITH ('type' = 'generic_in_memory')")
    env.execute_sql("CREATE DATABASE hologres.kafka")
    run(source, {"kafkaTable": {"topic": topic}})
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    run(target, {"sync_kafka": {"connector": "filesystem", "path": f"{tmp_path}/sync", "format": "parquet"}})
    with env.execute_sql("SELECT * FROM hologres.kafka.sync_kafka").collect() as rows:
        (row,) = (each.asDict() for each in rows)
    assert {name: row[name] for name in expected} == expected
    if number == "4":
        assert row["date"] is not None


@pytest.mark.nightly
def test_000_example_5_parses_nested_json(env, run, make_topic, broker):
    topic = make_topic()
    nested = {"id": 101, "name": "VVP", "properties": {"owner": "Alibaba Cloud", "engine": "Flink"}}
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(nested).encode()}])
    run("000:1016", {"kafka_source": {"topic": topic}})
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    with env.execute_sql("SELECT id, `name`, properties.owner FROM kafka_source").collect() as rows:
        assert [tuple(row) for row in rows] == [("101", "VVP", "Alibaba Cloud")]


@pytest.mark.nightly
class TestAlternatives:
    """000:837 shows the values of one option below each other: each of them runs, with the options beside it."""

    @pytest.fixture(scope="class")
    @classmethod
    def alternatives(cls) -> dict[str, dict[str, str]]:
        (text,) = (text for page, line, text in examples() if (page, line) in ALTERNATIVES)
        found = {}
        for block in text.split("-- Consume from")[1:]:
            pairs = re.findall(r"'([\w.-]+)' = '([^']*)'", block)
            (mode,) = (value for key, value in pairs if key == "scan.startup.mode")
            for key, value in [pair for pair in pairs if pair[0].endswith("auto.offset.reset")] or [("", "")]:
                others = {each: text for each, text in pairs if each != key}
                found[f"{mode} {value}".strip()] = others | ({key: value} if key else {})
        return found

    @pytest.fixture(scope="class")
    @classmethod
    def topic(cls, broker) -> Iterator[str]:
        """A topic whose partitions have more messages than the offset of the example, ten of them before its time."""
        name, at_ms = "alternatives", 1655395200000
        broker.create_topic(name, 2)
        for partition, count in enumerate([45, 305]):
            times = [at_ms - 1 if number < 10 else at_ms for number in range(count)]
            records = [{"value": b'{"id": 1}', "partition": partition, "timestamp": time} for time in times]
            produce(broker.bootstrap_servers, name, records)
        yield name
        delete_topics(broker.bootstrap_servers, [name])

    @pytest.mark.parametrize(
        ("alternative", "count"),
        {
            "earliest-offset": 350,
            "latest-offset": 0,
            "group-offsets earliest": 350,
            "group-offsets latest": 0,
            "timestamp": 330,
            "specific-offsets": 3 + 5,
        }.items(),
    )
    def test_000_837_starts_where_each_alternative_says(self, alternative, count, alternatives, topic, env, broker):
        assert len(alternatives) == 6
        options = {"topic": topic, "format": "json", **alternatives[alternative]}
        (table,) = parse("CREATE TEMPORARY TABLE kafka_source (id BIGINT) WITH ('connector' = 'kafka')")
        env.execute_sql(render(at_brokers(table, broker.bootstrap_servers, {"kafka_source": options})))
        env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
        assert env.sql_query("SELECT * FROM kafka_source").count() == count


@pytest.mark.nightly
class TestPage004:
    """The page's messages, and the rows that it shows."""

    @pytest.fixture
    def page(self) -> str:
        return next(REFERENCE.glob("004*.txt")).read_text("utf-8")

    @pytest.fixture
    def messages(self, page) -> list[dict[str, bytes]]:
        line = next(line for line in page.splitlines() if line.startswith('{"order_id"'))
        values = re.findall(r"\{.*?\}", line)
        assert len(values) == 3
        return [{"key": json.loads(value)["order_id"].encode(), "value": value.encode()} for value in values]

    def test_example_1_prints_the_rows_of_the_page(self, run, make_topic, broker, page, messages, capsys):
        topic = make_topic()
        produce(broker.bootstrap_servers, topic, messages)
        *_, result = run("004:97", {"upsertKafkaSource": {"topic": topic}})
        to_here(result)
        shown = next(line for line in page.splitlines() if line.startswith("+I("))
        # The page prints as an older Flink does, and has lost blanks of times
        rows = [f"{kind}[{row}]" for kind, row in re.findall(r"([+-][IUD])\((.*?)\)", shown)]
        printed = capsys.readouterr().out.splitlines()
        assert len(rows) == 4
        assert [row.replace(" ", "") for row in printed] == [row.replace(" ", "") for row in rows]

    def test_example_2_writes_the_messages_of_the_page(self, env, run, make_topic, broker, messages):
        source, sink = make_topic(), make_topic()
        *_, result = run("004:107", {"orders": {"topic": source}, "upsertKafkaSink": {"topic": sink}})
        # The source starts at the latest offset
        result.query.processAllAvailable()
        produce(broker.bootstrap_servers, source, messages)
        to_here(result)
        # Of each key in order; tasks write different keys at the same time
        found = sorted(consume(broker.bootstrap_servers, sink), key=lambda message: message.key())
        messages = sorted(messages, key=lambda message: message["key"])
        assert [message.key() for message in found] == [message["key"] for message in messages]
        numbers = {"pay_amount", "real_pay"}
        for message, sent in zip(found, messages, strict=True):
            expected = json.loads(sent["value"])
            # Columns of type DOUBLE
            assert json.loads(message.value()) == expected | {name: float(expected[name]) for name in numbers}
