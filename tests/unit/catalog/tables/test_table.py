"""A table's description, and the data source's acceptance of the options that a table is read by."""

from __future__ import annotations

import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import SampledMessage
from millrace.errors import SchemaError
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace_catalog.inference import KeyInference, Position
from millrace_catalog.inference.topic_inference import infer_table, to_inference_options
from millrace_catalog.tables.options import parse_catalog_options
from millrace_catalog.tables.table import KafkaJsonTable
from millrace_catalog.tables.table_schema import build_table_schema

SERVERS = {"properties.bootstrap.servers": "localhost:9092", "properties.sasl.password": "s3cr3t"}
VALUE = b'{"id": 1, "at": "2020-12-30T12:13:14", "s": {"a": [1.5]}, "partition ": true}'


def table(
    options: dict[str, str] | None = None, key: bytes | None = None, *, is_upsert: bool = False
) -> KafkaJsonTable:
    config = parse_catalog_options(SERVERS | (options or {}))
    keys = KeyInference("orders", to_inference_options(config.json), config)
    keys.add(Position(0, 7), key)
    value = infer_table("orders", [SampledMessage(0, 7, None, VALUE)], config.json, config)
    assert value.table is not None
    made = build_table_schema("orders", keys.result(), value.table, config, is_upsert=is_upsert)
    return KafkaJsonTable("orders", config, made, keys.result(), value)


@pytest.mark.parametrize("key", [None, b'{"id": 1, "s": {"a": 2}}', b"no json"], ids=["none", "json", "bytes"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"json.infer-schema.nested": "flatten", "json.timestamp-format.standard": "ISO-8601"},
        {"json.infer-schema.nested": "struct", "json.rescued-data-column": "rest", "value.fields-prefix": "v_"},
        {"key.fields-prefix": "", "value.fields-prefix": "v_", "json.ignore-parse-errors": "true"},
        {"json.infer-schema.flatten-nested-columns.enable": "true", "json.rescued-data-column": "rest"},
        {"json.ignore-parse-errors": "true", "json.ignore-parse-errors.scope": "row"},
    ],
    ids=str,
)
def test_the_data_source_reads_it_by_its_options(options: dict[str, str], key: bytes | None) -> None:
    made = table(options, key)
    source = configure_source(made.options)
    record_batch_builder_for(source, made.schema)
    assert source.options.topics == ("orders",)
    assert source.client["sasl.password"] == "s3cr3t"
    assert (source.key_format is None) == (key is None)
    assert len(made.inferred) == len(made.columns) - 3
    assert source.value_format is not None
    assert source.value_format.options.ignored_scope == options.get("json.ignore-parse-errors.scope", "field")


def test_a_notebook_shows_its_columns_without_secrets() -> None:
    shown = table(key=b'{"id": 1}')._repr_html_()
    assert "<caption>orders</caption>" in shown
    assert "<td>id</td><td>BIGINT</td><td>value</td>" in shown
    assert "s3cr3t" not in shown


def test_its_texts() -> None:
    made = table(
        {"json.infer-schema.nested": "struct", "json.rescued-data-column": "rest"}, b'{"id": "x"}', is_upsert=True
    )
    assert made.describe().splitlines() == [
        "upsert table orders, primary key (key_id)",
        "column        type                  of        because of",
        "key_id        STRING                key       STRING since partition 0, offset 7",
        "id            BIGINT                value     BIGINT since partition 0, offset 7",
        "at            STRING                value     STRING since partition 0, offset 7",
        "s             ROW<a ARRAY<DOUBLE>>  value     ROW<a ARRAY<DOUBLE>> since partition 0, offset 7",
        "`partition `  BOOLEAN               value     BOOLEAN since partition 0, offset 7",
        "rest          STRING                value     option json.rescued-data-column",
        "partition     INT NOT NULL          metadata",
        "offset        BIGINT NOT NULL       metadata",
        "timestamp     TIMESTAMP_LTZ(3)      metadata",
        "inferred from 1 message",
    ]
    assert made.ddl().splitlines()[:3] == ["CREATE TABLE `kafka`.`orders` (", "  `key_id` STRING,", "  `id` BIGINT,"]
    assert "PRIMARY KEY (`key_id`) NOT ENFORCED" in made.ddl()
    assert "'json.rescued-data-column' = 'rest'" in made.ddl()
    assert "s3cr3t" not in made.ddl() + repr(made) + repr(made.options)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (b'{"a;b": 1}', "option 'key.fields' cannot express the key column 'key_a;b'"),
        (b'{"a ": 1}', "option 'key.fields' cannot express the key column 'key_a '"),
    ],
)
def test_keys_that_no_option_can_name_are_refused(key: bytes, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        table(key=key)


def test_an_upsert_table_needs_keys() -> None:
    with pytest.raises(SchemaError, match="keyed by its key columns, and no sampled message has a key"):
        table(is_upsert=True)
