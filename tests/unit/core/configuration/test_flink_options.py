"""Options as the WITH clause of a table in Flink's SQL has them."""

from __future__ import annotations

import pytest
from tests.support.both_directions import configure

TABLE = {"connector": "kafka", "properties.bootstrap.servers": "h:9092", "topic": "user_behavior"}

LISTS = {
    "starts at the beginning": {
        "properties.group.id": "testGroup",
        "scan.startup.mode": "earliest-offset",
        "format": "csv",
    },
    "changes with metadata of the format": {
        "properties.group.id": "testGroup",
        "scan.startup.mode": "earliest-offset",
        "value.format": "debezium-json",
    },
    "keys and values": {
        "key.format": "json",
        "key.json.ignore-parse-errors": "true",
        "key.fields": "user_id;item_id",
        "value.format": "json",
        "value.json.fail-on-missing-field": "false",
        "value.fields-include": "ALL",
    },
    "names that overlap": {
        "key.format": "json",
        "key.fields": "k_version;k_user",
        "key.fields-prefix": "k_",
        "value.format": "json",
        "value.fields-include": "EXCEPT_KEY",
    },
    "bounded, with a deprecated name": {
        "format": "json",
        "scan.startup.mode": "timestamp",
        "scan.startup.timestamp-millis": "1655395200000",
        "scan.bounded.mode": "unbounded",
        "scan.topic-partition-discovery.interval": "5 min",
        "sink.semantic": "exactly-once",
        "sink.transactional-id-prefix": "user-behavior",
        "sink.partitioner": "round-robin",
    },
    "security": {
        "format": "json",
        "properties.security.protocol": "SASL_SSL",
        "properties.ssl.endpoint.identification.algorithm": "",
        "properties.sasl.mechanism": "SCRAM-SHA-256",
        "properties.sasl.jaas.config": "org.apache.flink.kafka.shaded.org.apache.kafka.common.security.scram."
        'ScramLoginModule required username="username" password="password";',
    },
    "a source of a pipeline": {
        "value.format": "json",
        "json.infer-schema.fixed-types": "id BIGINT, name VARCHAR(10)",
        "scan.max.pre.fetch.records": "0",
        "ingestion.ignore-errors": "true",
        "ingestion.error-tolerance.max-count": "1000",
        "metadata.list": "topic, partition",
    },
}


@pytest.mark.parametrize("options", LISTS.values(), ids=LISTS)
def test_the_list_of_a_flink_table_can_be_pasted(options: dict[str, str]) -> None:
    made = configure({**TABLE, **options})
    assert made.source.options.topics == made.sink.options.topics == ("user_behavior",)
    assert made.source.value_format is not None
