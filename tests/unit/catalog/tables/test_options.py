"""The catalog's options: all problems at once, nothing secret shown."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace_catalog import KafkaJsonCatalog

SERVERS = {"properties.bootstrap.servers": "localhost:9092"}


def test_nothing_but_the_brokers_is_needed() -> None:
    catalog = KafkaJsonCatalog.from_options(SERVERS)
    assert catalog.database == "kafka"
    assert repr(catalog) == "KafkaJsonCatalog('localhost:9092', database kafka)"


def test_the_options_of_the_reference() -> None:
    options = {
        "type": "kafka",
        "format": "json",
        "default-database": "events",
        "key.fields-prefix": "k_",
        "value.fields-prefix": "v_",
        "timestamp-format.standard": "ISO-8601",
        "json.infer-schema.flatten-nested-columns.enable": "true",
        "infer-schema.primitive-as-string": "true",
        "infer-schema.parse-key-error.field-name": "raw",
        "infer-schema.compacted-topic-as-upsert-table": "true",
        "max.fetch.records": "100",
        "infer-schema.cache-ttl": "5 min",
        "infer-schema.max-columns": "10",
    }
    assert KafkaJsonCatalog.from_options(SERVERS | options).database == "events"


def test_all_problems_are_told_at_once_and_no_secret() -> None:
    with pytest.raises(OptionsError) as error:
        KafkaJsonCatalog.from_options(
            {
                "format": "jsn",
                "value.fields-prefix": "key",
                "scan.max.pre.fetch.records": "-1",
                "json.infer-schema.nestd": "struct",
                "json.decode.parser-table-id.fields": "db,,table",
                "scan.startup.mode": "latest-offset",
                "properties.sasl.password": "s3cr3t",
                "properties.security.protocl": "SASL_SSL",
            }
        )
    assert "s3cr3t" not in str(error.value)
    assert str(error.value).startswith("wrong catalog options, ")
    for problem in (
        "option 'properties.bootstrap.servers' is required, such as 'localhost:9092'",
        "option 'format': expected one of json, canal-json, debezium-json, avro-confluent, json-confluent, "
        "protobuf-confluent (did you mean 'json'?); got 'jsn'",
        "option 'scan.max.pre.fetch.records': expected greater than or equal to 0; got '-1'",
        "options 'key.fields-prefix' and 'value.fields-prefix': 'key_' and 'key' cannot be told apart, since one "
        "begins with the other",
        "unknown option 'json.infer-schema.nestd'; did you mean 'json.infer-schema.nested'?",
        "unknown option 'scan.startup.mode'; it is for reads: catalog.table(...).read(spark, {'scan.startup.mode': "
        "...})",
    ):
        assert problem in error.value.problems
    assert any("json.decode.parser-table-id.fields" in problem for problem in error.value.problems)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"canal-json.infer-schema.strategy": "SQL"},
            "'canal-json.infer-schema.strategy': expected one of AUTO",
        ),
        ({"canal-json.schema-include": "true"}, "unknown option 'canal-json.schema-include'"),
        ({"scan.max.pre.fetch.records": "0"}, "is 0, and the columns of format canal-json are in messages"),
        ({"infer-schema.compacted-topic-as-upsert-table": "true"}, "is not for format canal-json"),
    ],
)
def test_wrong_options_of_changes(options: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionsError) as error:
        KafkaJsonCatalog.from_options(SERVERS | {"format": "canal-json"} | options)
    assert problem in str(error.value)


def test_options_of_json_that_exclude_each_other() -> None:
    options = {"infer-schema.flatten-nested-columns.enable": "true", "json.infer-schema.nested": "struct"}
    with pytest.raises(OptionsError, match="exclude each other"):
        KafkaJsonCatalog.from_options(SERVERS | options)


def test_an_option_that_is_given_in_two_ways() -> None:
    with pytest.raises(OptionsError, match="mean the same option but differ"):
        KafkaJsonCatalog.from_options(SERVERS | {"infer-schema.nested": "struct", "json.infer-schema.nested": "string"})
