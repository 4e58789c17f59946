"""CREATE TABLE ... AS TABLE on the catalog's replication."""

from __future__ import annotations

import pytest
from pyspark.sql import types as sql

from millrace.contracts import TableColumn, TableDescription
from millrace.errors import OptionsError, SchemaError
from millrace_sql.connectors.table_copy import copy_sink, described_copy

CONNECTION = {"topic": "demo", "properties.bootstrap.servers": "localhost:9092", "format": "json"}


def describe(*columns: TableColumn, **options: str) -> TableDescription:
    return TableDescription(("vvp", "default", "kafkaTable"), columns, options=CONNECTION | options)


def test_nothing_declared_but_the_place_of_messages():
    flatten = {"json.infer-schema.flatten-nested-columns.enable": "true", "scan.startup.mode": "earliest-offset"}
    copy = described_copy(
        describe(
            TableColumn("offset", sql.IntegerType(), nullable=False, metadata_key="offset"),
            TableColumn("part", sql.LongType(), nullable=False, metadata_key="partition"),
            **flatten,
        ),
        {},
    )
    assert copy.topic == "demo"
    assert dict(copy.catalog_options) == {
        "properties.bootstrap.servers": "localhost:9092",
        "json.infer-schema.flatten-nested-columns.enable": "true",
    }
    assert dict(copy.read_options) == {"scan.startup.mode": "earliest-offset"}
    assert copy.computed_columns == {"part": "CAST(`partition` AS bigint)"}


def test_declared_columns_keep_their_types():
    keyed = {
        "key.format": "json",
        "key.fields": "key_id",
        "key.fields-prefix": "key_",
        "value.fields-prefix": "val_",
        "value.fields-include": "EXCEPT_KEY",
    }
    columns = (TableColumn("key_id", sql.IntegerType(), nullable=False), TableColumn("val_name", sql.StringType()))
    copy = described_copy(describe(*columns, **keyed), {})
    assert copy.catalog_options["json.infer-schema.fixed-types"] == "name STRING"
    assert copy.catalog_options["key.fields-prefix"] == "key_"
    assert not copy.read_options


def test_computed_and_added_columns():
    columns = (
        TableColumn("distinct_id", sql.IntegerType(), nullable=False),
        TableColumn("timestamp", sql.TimestampType(), metadata_key="timestamp"),
        TableColumn("date", sql.DateType(), expression="CAST(`timestamp` AS DATE)"),
    )
    copy = described_copy(describe(*columns), {"order_id": "coalesce(x, 'default')"})
    assert copy.catalog_options["json.infer-schema.fixed-types"] == "distinct_id INT NOT NULL"
    assert copy.computed_columns == {"date": "CAST(`timestamp` AS DATE)", "order_id": "coalesce(x, 'default')"}
    with pytest.raises(SchemaError, match="has a column 'DATE' already"):
        described_copy(describe(*columns), {"DATE": "1"})


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        (describe(format="csv"), OptionsError, "AS TABLE copies topics of format 'json', not 'csv'"),
        (describe(topic="a;b"), OptionsError, "AS TABLE copies one topic"),
        (describe(TableColumn("t", sql.StringType(), metadata_key="topic")), SchemaError, "is metadata 'topic'"),
    ],
)
def test_tables_that_cannot_be_copied(table, error, said):
    with pytest.raises(error, match="kafkaTable") as refusal:
        described_copy(table, {})
    assert said in str(refusal.value)


def test_targets():
    def target(**options):
        return TableDescription(("d", "d", "sync"), (), options=options)

    assert str(copy_sink(target(path="/tables/sync", format="parquet"), "filesystem")) == "ParquetSink('/tables/sync')"
    database = {"url": "jdbc:sqlite:/data/orders.db", "table-name": "sync", "password": "hunter2"}
    assert "hunter2" not in str(copy_sink(target(**database), "jdbc"))
    with pytest.raises(OptionsError, match="format 'parquet'"):
        copy_sink(target(path="/tables/sync", format="json"), "filesystem")
    with pytest.raises(OptionsError, match="of connector 'filesystem' or 'jdbc', not 'print'"):
        copy_sink(target(), "print")
