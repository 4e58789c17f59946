"""Every parameter of Kafka as a source of pipelines reaches the part that it is for."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace.source.enumerator.split_planner import MAX_SPLIT_RECORDS
from millrace_catalog.types import parse_schema
from millrace_cdc.connectors.kafka import reading
from millrace_cdc.connectors.kafka.reading import MICRO_BATCH_RECORDS
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.runtime.extra_columns import ExtraColumns
from millrace_cdc.runtime.malformed_limits import MalformedLimits
from millrace_cdc.runtime.progress import PartitionOrder
from millrace_cdc.runtime.task_reports import TableReport, TaskFindings

REQUIRED = {"properties.bootstrap.servers": "h:1", "topic": "t", "scan.startup.mode": "earliest-offset"}

# What the data source gets
READ = {
    "properties.bootstrap.servers": ({}, "properties.bootstrap.servers", "h:1"),
    "topic": ({"topic": "a;b"}, "topic", "a;b"),
    "topic-pattern": ({"topic": "", "topic-pattern": "a.*"}, "topic-pattern", "a.*"),
    "properties.*": ({"properties.fetch.min.bytes": "7"}, "properties.fetch.min.bytes", "7"),
    "properties.group.id": ({"properties.group.id": "g"}, "properties.group.id", "g"),
    "scan.startup.mode": ({"scan.startup.mode": "latest-offset"}, "scan.startup.mode", "latest-offset"),
    "scan.startup.specific-offsets": (
        {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:42"},
        "scan.startup.specific-offsets",
        "partition:0,offset:42",
    ),
    "scan.startup.timestamp": (
        {"scan.startup.mode": "timestamp", "scan.startup.timestamp": "2026-11-27 15:00:05 Europe/Berlin"},
        "scan.startup.timestamp-millis",
        "1795788005000",
    ),
    "scan.startup.timestamp-millis": (
        {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "42"},
        "scan.startup.timestamp-millis",
        "42",
    ),
    "scan.topic-partition-discovery.interval": (
        {"scan.topic-partition-discovery.interval": "7 s"},
        "scan.topic-partition-discovery.interval",
        "7000 ms",
    ),
    "scan.check.duplicated.group.id": (
        {"scan.check.duplicated.group.id": "true"},
        "scan.check.duplicated.group.id",
        "true",
    ),
    "metadata.list": (
        {"metadata.list": "topic, headers, leader-epoch"},
        "metadata.columns",
        "headers AS __headers, leader-epoch AS __leader_epoch",
    ),
}

# What the parser of messages gets
EXTRA = {"key.format": "json", "key.fields-prefix": "k_", "value.fields-prefix": "v_", "metadata.list": "topic"}
PARSED = {
    "value.format": ({"value.format": "ogg-json"}, "format", "ogg-json"),
    "key.format": (EXTRA, "extra", ExtraColumns(True, "k_", "v_", ("topic",))),
    "key.fields-prefix": (EXTRA, "extra.key_prefix", "k_"),
    "value.fields-prefix": (EXTRA, "extra.value_prefix", "v_"),
    "primary-keys-from": ({"primary-keys-from": "key"}, "has_primary_keys", True),
    "schema.inference.strategy": ({"schema.inference.strategy": "static"}, "strategy", "static"),
    "ingestion.ignore-errors": ({"ingestion.ignore-errors": "true"}, "skips_malformed", True),
    "debezium-json.schema-include": ({"debezium-json.schema-include": "true"}, "options.schema_include", True),
}
CANAL = {
    "database.include": ("db.*", "database_include", "db.*"),
    "table.include": ("t.*", "table_include", "t.*"),
    "infer-schema.strategy": ("MYSQL_TYPE", "strategy", "MYSQL_TYPE"),
    "mysql.treat-mysql-timestamp-as-datetime-enabled": ("false", "timestamp_as_datetime", False),
    "mysql.treat-tinyint1-as-boolean.enabled": ("false", "tinyint1_as_boolean", False),
}
JSON = {
    "timestamp-format.standard": ("ISO-8601", "timestamp_format", "ISO-8601"),
    "infer-schema.flatten-nested-columns.enable": ("true", "flatten", True),
    "decode.parser-table-id.fields": ("col1,col2", "table_fields", ("col1", "col2")),
    "decode.deletion.field": ("__deleted", "deletion_field", "__deleted"),
    "infer-schema.fixed-types": ("id BIGINT", "fixed_types", parse_schema("id BIGINT").columns),
}
for format_, options in {"canal-json": CANAL, "json": JSON}.items():
    for option, (text, attribute, value) in options.items():
        name = f"{format_}.{option}"
        PARSED[name] = ({name: text, "value.format": format_}, f"options.{attribute}", value)
for format_ in ("debezium-json", "canal-json", "json", "maxwell-json", "ogg-json"):
    shared = {"ignore-parse-errors": "ignore_parse_errors", "infer-schema.primitive-as-string": "primitive_as_string"}
    for option, attribute in shared.items():
        name = f"{format_}.{option}"
        PARSED[name] = ({name: "true", "value.format": format_}, f"options.{attribute}", True)
    if format_ != "json":
        name = f"{format_}.distributed-tables"
        PARSED[name] = ({name: "true", "value.format": format_}, "has_distributed_tables", True)
AVRO = {"value.format": "debezium-avro-confluent", "debezium-avro-confluent.url": "http://r:8081"}
for format_, others in {"debezium-json": {}, "debezium-avro-confluent": AVRO}.items():
    name = f"{format_}.values-out-of-range"
    PARSED[name] = ({**others, name: "null"}, "options.out_of_range", "null")
PARSED["debezium-avro-confluent.*"] = (AVRO, "options.format.options.url", "http://r:8081")
PARSED["debezium-avro-confluent.distributed-tables"] = (
    {**AVRO, "debezium-avro-confluent.distributed-tables": "true"},
    "has_distributed_tables",
    True,
)
for format_, given in {"debezium-json": {}, "debezium-avro-confluent": AVRO}.items():
    name = f"{format_}.values-out-of-range"
    PARSED[name] = ({**given, name: "null"}, "options.out_of_range", "null")


def unchecked_source(**given: str) -> KafkaPipelineSource:
    parser = OptionParser("source", {name: text for name, text in {**REQUIRED, **given}.items() if text})
    options = parser.take(KafkaPipelineSource.Options)
    parser.finish()
    return KafkaPipelineSource(options)


def source(**given: str) -> KafkaPipelineSource:
    made = unchecked_source(**given)
    assert not list(made.problems())
    return made


def test_every_parameter_is_here():
    limits = {"ingestion.error-tolerance.max-count", "dirty-data.max-ratio", "dirty-data.max-consecutive"}
    here = {"scan.max.pre.fetch.records", "scan.value.initial-schemas.ddls", *limits}
    declared = {info.name for info in options_of(KafkaPipelineSource.Options).values()}
    assert declared == here | READ.keys() | PARSED.keys()


@pytest.mark.parametrize("name", READ)
def test_the_data_source_gets(name):
    given, option, expected = READ[name]
    found: dict[str, str] = {}
    stream: Any = SimpleNamespace(load=lambda: found)
    stream.format = lambda _: stream
    stream.options = lambda **options: found.update(options) or stream
    settings = SimpleNamespace(get=lambda _, default: default)
    source(**given).read(SimpleNamespace(readStream=stream, conf=settings))
    assert found[option] == expected


def test_one_task_reads_all_messages_of_a_partition():
    assert MICRO_BATCH_RECORDS <= MAX_SPLIT_RECORDS


@pytest.mark.parametrize("name", PARSED)
def test_the_parser_gets(name):
    given, path, expected = PARSED[name]
    format_ = given.get("value.format", "")
    needed = {"debezium-avro-confluent.url": "http://other"} if format_ == AVRO["value.format"] else {}
    # And not by default
    default = value_at(source(**{"value.format": format_}, **needed).parser_settings, path)
    assert default != expected or name == "value.format"
    assert value_at(source(**given).parser_settings, path) == expected


def value_at(settings: Any, path: str) -> Any:
    for attribute in path.split("."):
        settings = getattr(settings, attribute)
    return settings


@pytest.mark.parametrize(("text", "counts"), [("", [50, 50]), ("7", [7, 7]), ("0", [50])])
def test_newest_messages_of_topics_that_match(text, counts, monkeypatch):
    asked: list[tuple[list[str], int]] = []

    class FakeTopics:
        def __init__(self, client):
            assert client["bootstrap.servers"] == "h:1"

        def names(self):
            return ["a1", "a2", "b"]

        def newest(self, names, count):
            asked.append((list(names), count))
            return {}

    monkeypatch.setattr(reading, "Topics", FakeTopics)
    made = source(**{"topic": "", "topic-pattern": r"a\d", "scan.max.pre.fetch.records": text})
    # A run with 0 reads none; a plan looks at some all the same
    assert (made.newest_messages(), made.sample_messages()) == ({}, {})
    assert asked == [(["a1", "a2"], count) for count in counts]


def test_initial_schemas():
    made = source(**{"scan.value.initial-schemas.ddls": "CREATE TABLE db1.t1 (id BIGINT NOT NULL, name VARCHAR(10));"})
    assert made.initial_schemas == {"db1.t1": (parse_schema("id BIGINT NOT NULL, name VARCHAR(10)"), ())}


def test_the_number_of_tolerated_messages():
    name = "ingestion.error-tolerance.max-count"
    # Without ingestion.ignore-errors it has no effect, as in the reference
    counts = [source(**{name: text}).malformed_limits.count for text in ("", "-1", "0", "1000")]
    assert counts == [None, None, 0, 1000]


def test_limits_by_share_and_by_run():
    made = source(
        **{"ingestion.ignore-errors": "true", "dirty-data.max-ratio": "1 %", "dirty-data.max-consecutive": "5"}
    )
    assert made.malformed_limits == MalformedLimits(ratio=0.01, consecutive=5)
    assert made.parser_settings.counts_runs


@pytest.mark.parametrize("name", ["dirty-data.max-ratio", "dirty-data.max-consecutive"])
def test_a_limit_needs_that_malformed_messages_are_skipped(name):
    (problem,) = unchecked_source(**{name: "1"}).problems()
    assert problem.option == name
    assert "requires 'ingestion.ignore-errors: true'" in problem.sentence


def test_a_plan_is_told_which_messages_are_looked_at():
    assert source().sample_scope == "the newest 50 messages of each partition"
    given = source(**{"scan.max.pre.fetch.records": "7"})
    assert given.sample_scope == "the newest 7 messages of each partition"


@pytest.mark.parametrize(("distributed", "warnings"), [("", 1), ("true", 0)])
def test_a_table_in_several_partitions_is_told_once_unless_it_may_be(distributed, warnings, caplog):
    parser = source(**{"debezium-json.distributed-tables": distributed}).parser_settings
    order = PartitionOrder(parser)
    with caplog.at_level(logging.WARNING):
        for partition in (0, 1, 2):
            order.check([TaskFindings({"shop.t": TableReport(partitions={("t", partition)})})])
    assert [record.getMessage().partition(",")[0] for record in caplog.records] == [
        "table 'shop.t' has changes in several partitions"
    ] * warnings
