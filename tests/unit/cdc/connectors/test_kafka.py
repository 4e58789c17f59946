"""The options of Kafka as a source and as a sink of pipelines."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace.options.parser import OptionParser
from millrace.testing import PipelineSinkSuite, PipelineSourceSuite
from millrace_cdc.connectors.kafka.sink import KafkaPipelineSink
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.table_id import TableId

SERVERS = {"properties.bootstrap.servers": "localhost:9092"}


def parse(plugin, **given: str):
    parser = OptionParser("source", SERVERS | given)
    options = parser.take(plugin.Options)
    parser.finish()
    return plugin(options)


def problems_of(plugin, given: dict[str, str]) -> list[str]:
    return [each.option for each in parse(plugin, **given).problems()]


class TestKafkaSource(PipelineSourceSuite):
    def make_plugin(self):
        return parse(KafkaPipelineSource, topic="orders", **{"metadata.list": "topic, offset"})


class TestKafkaSink(PipelineSinkSuite):
    def make_plugin(self):
        return parse(KafkaPipelineSink)


def test_the_defaults_of_the_source_are_those_of_the_reference():
    options = parse(KafkaPipelineSource, topic="a;b").options
    assert options.topics == ("a", "b")
    assert (options.value_format, options.startup_mode, options.inference_strategy) == (
        "debezium-json",
        "group-offsets",
        "continuous",
    )
    assert (options.prefetched_records, options.max_errors, options.discovery_interval_ms) == (50, -1, 300_000)
    assert (options.canal_strategy, options.canal_timestamp_as_datetime, options.canal_tinyint1_as_boolean) == (
        "AUTO",
        True,
        True,
    )


def test_the_defaults_of_the_sink_are_those_of_the_reference():
    options = parse(KafkaPipelineSink).options
    assert (options.value_format, options.partition_strategy, options.topic, options.key_format) == (
        "debezium-json",
        "all-to-zero",
        None,
        None,
    )


def test_no_record_may_be_fetched_before():
    assert parse(KafkaPipelineSource, topic="a", **{"scan.max.pre.fetch.records": "0"}).options.prefetched_records == 0


def test_initial_schemas():
    with_key = "create table `db1`.t2 (id BIGINT, PRIMARY KEY (id) NOT ENFORCED);"
    text = f"CREATE TABLE db1.t1 (id BIGINT, name VARCHAR(10)); {with_key}"
    first, second = parse(
        KafkaPipelineSource, topic="a", **{"scan.value.initial-schemas.ddls": text}
    ).options.initial_schemas
    assert (first.table, str(first.schema.columns[1]), first.primary_key) == (
        TableId.of("db1", "t1"),
        "name VARCHAR(10)",
        (),
    )
    assert (second.table, second.primary_key) == (TableId.of("db1", "t2"), ("id",))


def test_a_secret_is_in_no_repr():
    plugin = parse(KafkaPipelineSource, topic="a", **{"properties.sasl.password": "hunter2"})
    assert dict(plugin.options.properties)["sasl.password"] == "hunter2"
    assert "hunter2" not in repr(plugin.options)


def test_topics_of_tables():
    mapping = "mydb.t1,mydb.t2:one;mydb.[a-z]+:two"
    assert parse(KafkaPipelineSink, **{"sink.tableId-to-topic.mapping": mapping}).options.topic_mapping == (
        ("mydb.t1,mydb.t2", "one"),
        ("mydb.[a-z]+", "two"),
    )


def test_a_sink_says_its_guarantee():
    exactly = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "p"}
    assert parse(KafkaPipelineSink, **exactly).capabilities.guarantee == "exactly-once"
    assert parse(KafkaPipelineSink).capabilities.guarantee == "at-least-once"


@pytest.mark.parametrize(
    ("plugin", "name", "value", "expected"),
    [
        (KafkaPipelineSource, "properties.bootstrap.servers", "localhost", "host:port,host:port"),
        (KafkaPipelineSource, "topic", "a;;b", "expected topic names separated by ';'"),
        (KafkaPipelineSource, "topic-pattern", "a(", "expected a regular expression"),
        (KafkaPipelineSource, "scan.startup.mode", "earliest-ofset", "did you mean 'earliest-offset'?"),
        (
            KafkaPipelineSource,
            "scan.startup.specific-offsets",
            "0:42",
            "expected offsets such as partition:0,offset:42",
        ),
        (KafkaPipelineSource, "scan.max.pre.fetch.records", "-1", "greater than or equal to 0"),
        (KafkaPipelineSource, "scan.topic-partition-discovery.interval", "5 parsecs", "expected a duration"),
        (KafkaPipelineSource, "metadata.list", "topic,offsets", "but there is offsets"),
        (
            KafkaPipelineSource,
            "value.format",
            "avro",
            "expected one of debezium-json, canal-json, maxwell-json, ogg-json, json",
        ),
        (KafkaPipelineSource, "scan.value.initial-schemas.ddls", "DROP TABLE t", "expected CREATE TABLE"),
        (KafkaPipelineSource, "scan.value.initial-schemas.ddls", "CREATE TABLE t (a BIGNIT)", "columns of t: "),
        (
            KafkaPipelineSource,
            "scan.value.initial-schemas.ddls",
            "CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED)",
            "names b, which is none of its columns",
        ),
        (
            KafkaPipelineSource,
            "scan.value.initial-schemas.ddls",
            "CREATE TABLE t (a INT); CREATE TABLE t (a INT)",
            "one",
        ),
        (KafkaPipelineSource, "json.infer-schema.fixed-types", "id", "expected"),
        (KafkaPipelineSink, "sink.tableId-to-topic.mapping", "a.b", "expected tables and their topics"),
        (KafkaPipelineSink, "sink.tableId-to-topic.mapping", "a.(b:t", "expected a regular expression"),
        (KafkaPipelineSink, "topic", "a;b", "expected the name of one topic"),
        (KafkaPipelineSink, "value.format", "json", "expected one of debezium-json, canal-json, canal-protobuf"),
    ],
)
def test_a_wrong_value_is_refused(plugin, name, value, expected):
    with pytest.raises(OptionsError) as refused:
        parse(plugin, **{name: value})
    assert name in str(refused.value)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("plugin", "given", "options"),
    [
        (KafkaPipelineSource, {}, ["topic"]),
        (KafkaPipelineSource, {"topic": "a", "topic-pattern": "b"}, ["topic-pattern"]),
        (KafkaPipelineSource, {"topic": "a", "scan.startup.mode": "timestamp"}, ["scan.startup.timestamp-millis"]),
        (KafkaPipelineSource, {"topic": "a", "scan.startup.timestamp-millis": "5"}, ["scan.startup.timestamp-millis"]),
        (KafkaPipelineSource, {"topic": "a", "scan.startup.timestamp": "2026-11-27"}, ["scan.startup.timestamp"]),
        (
            KafkaPipelineSource,
            {
                "topic": "a",
                "scan.startup.mode": "timestamp",
                "scan.startup.timestamp": "2026-11-27",
                "scan.startup.timestamp-millis": "5",
            },
            ["scan.startup.timestamp"],
        ),
        (KafkaPipelineSource, {"topic": "a", "key.fields-prefix": "k_"}, ["key.fields-prefix"]),
        (
            KafkaPipelineSource,
            {"topic": "a", "key.format": "json", "key.fields-prefix": "k_", "value.fields-prefix": "k_v"},
            ["value.fields-prefix"],
        ),
        (
            KafkaPipelineSource,
            {"topic": "a", "json.infer-schema.fixed-types": "id INT"},
            ["json.infer-schema.fixed-types"],
        ),
        (
            KafkaPipelineSource,
            {"topic": "a", "value.format": "canal-json", "debezium-json.schema-include": "true"},
            ["debezium-json.schema-include"],
        ),
        (KafkaPipelineSource, {"topic": "a", "canal-json.infer-schema.strategy": "AUTO"}, []),
        (KafkaPipelineSink, {"topic": "a", "sink.tableId-to-topic.mapping": "a:b"}, ["sink.tableId-to-topic.mapping"]),
        (KafkaPipelineSink, {"sink.delivery-guarantee": "exactly-once"}, ["sink.transactional-id-prefix"]),
        (
            KafkaPipelineSink,
            {"value.format": "canal-json", "debezium-json.include-schema.enabled": "true"},
            ["debezium-json.include-schema.enabled"],
        ),
    ],
)
def test_options_that_do_not_go_together(plugin, given, options):
    assert problems_of(plugin, given) == options
