"""Tables of connector kafka become reads and writes of the data source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import types as sql

from millrace.configuration.build import configure_source
from millrace.contracts import ROW_KIND_COLUMN, ChangelogMode, ScanContext, TableColumn, TableDescription
from millrace.errors import OptionsError, SchemaError
from millrace_sql.connectors.kafka.factory import KafkaTableFactory
from millrace_sql.connectors.kafka.upsert_factory import UpsertKafkaTableFactory

ID, NAME = TableColumn("id", sql.LongType()), TableColumn("name", sql.StringType())
CONNECTION = {"topic": "orders", "properties.bootstrap.servers": "localhost:9092", "format": "json"}


def describe(*columns: TableColumn, **options: str) -> TableDescription:
    return TableDescription(("default", "default", "orders"), columns or (ID, NAME), options=CONNECTION | options)


def metadata(name: str, key: str, type_: sql.DataType, *, is_virtual: bool = False) -> TableColumn:
    return TableColumn(name, type_, metadata_key=key, is_virtual=is_virtual)


def read_options(*columns: TableColumn, **options: str) -> dict[str, Any]:
    return dict(KafkaTableFactory().source(describe(*columns, **options)).options)


def written_options(*columns: TableColumn, **options: str) -> dict[str, Any]:
    return dict(KafkaTableFactory().sink(describe(*columns, **options)).options)


def test_a_read_starts_at_the_offsets_of_the_tables_group():
    options = read_options()
    assert (options["scan.startup.mode"], options["table-name"]) == ("group-offsets", "orders")
    assert "scan.startup.mode" not in written_options()


@pytest.mark.parametrize("start", [{"scan.startup.mode": "latest-offset"}, {"startingOffsets": "earliest"}])
def test_a_start_that_is_given_stays(start):
    options = read_options(**start)
    assert {name: options[name] for name in start} == start
    assert options.get("scan.startup.mode") == start.get("scan.startup.mode")


def test_a_prefix_of_the_key_leaves_it_out_of_the_value():
    keyed = {"key.format": "json", "key.fields": "key_id", "key.fields-prefix": "key_"}
    key = TableColumn("key_id", sql.LongType())
    assert read_options(key, NAME, **keyed)["value.fields-include"] == "EXCEPT_KEY"
    with pytest.raises(OptionsError, match="EXCEPT_KEY"):
        read_options(key, NAME, **keyed, **{"value.fields-include": "ALL"})


def test_metadata_columns_are_named_to_the_data_source():
    columns = (
        ID,
        metadata("at", "timestamp", sql.TimestampType()),
        metadata("offset", "offset", sql.IntegerType(), is_virtual=True),
        metadata("where from", "topic", sql.StringType()),
    )
    assert read_options(*columns)["metadata.columns"] == "timestamp AS at, offset AS offset, topic AS __metadata_2"
    assert written_options(*columns)["metadata.columns"] == "timestamp AS at, topic AS __metadata_2"


@pytest.mark.parametrize(
    ("options", "reads_once", "is_pushed"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"scan.filter-pushdown": "true"}, True, True),
        # Spark would read all places of the query by the filters of one of them
        ({"scan.filter-pushdown": "true"}, False, False),
        ({"scan.filter-pushdown": "false"}, True, False),
    ],
)
def test_filters_are_pushed_only_where_one_place_of_a_query_reads_the_rows(options, reads_once, is_pushed):
    source = KafkaTableFactory().source(describe(ID, metadata("part", "partition", sql.IntegerType()), **options))
    read = source.planned_read(ScanContext(streaming=False, reads_once=reads_once))
    assert configure_source(read.options).options.filter_pushdown is is_pushed


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (metadata("x", "timstamp", sql.TimestampType()), "'x' is of unknown metadata 'timstamp'; did you mean 'times"),
        (metadata("x", "value.source.table", sql.StringType()), "unknown metadata 'value.source.table'"),
        (metadata("x", "offset", sql.BooleanType()), "'offset' of type BIGINT, which cannot become BOOLEAN"),
        (metadata("x", "headers", sql.StringType()), "MAP<STRING,BINARY>, which cannot become STRING"),
    ],
)
def test_metadata_that_cannot_be_read_is_refused(column, said):
    with pytest.raises(SchemaError, match="table 'orders'") as error:
        KafkaTableFactory().source(describe(ID, column))
    assert said in str(error.value)


@pytest.mark.parametrize("key", ["offset", "leader-epoch", "timestamp-type", "value.database"])
def test_metadata_that_is_read_only_must_be_virtual_in_a_write(key):
    with pytest.raises(SchemaError, match=f"metadata '{key}', which can only be read: declare it VIRTUAL"):
        KafkaTableFactory().sink(describe(ID, metadata("x", key, sql.StringType())))
    KafkaTableFactory().sink(describe(ID, metadata("x", key, sql.StringType(), is_virtual=True)))


def test_metadata_of_a_format_and_changes():
    table = describe(ID, metadata("t", "value.source.table", sql.StringType()), format="debezium-json")
    source = KafkaTableFactory().source(table)
    assert source.changelog_mode == ChangelogMode.ALL
    assert source.options["changelog.row-kind-column"] == ROW_KIND_COLUMN
    assert KafkaTableFactory().sink(describe(ID, format="debezium-json")).changelog_mode == ChangelogMode.ALL
    assert KafkaTableFactory().sink(describe(ID)).changelog_mode == ChangelogMode.INSERT_ONLY


def test_a_bounded_table():
    assert not KafkaTableFactory().source(describe()).is_bounded
    assert KafkaTableFactory().source(describe(**{"scan.bounded.mode": "latest-offset"})).is_bounded
    assert not KafkaTableFactory().source(describe(**{"scan.bounded.mode": "unbounded"})).is_bounded


@pytest.mark.parametrize("option", ["columns", "metadata.columns", "table-name", "changelog.row-kind-column"])
def test_options_of_reads_without_a_table_are_refused(option):
    with pytest.raises(OptionsError, match=rf"table 'orders' .*'{option}'"):
        read_options(**{option: "topic"})


def test_errors_are_those_of_the_data_source_with_the_table():
    with pytest.raises(OptionsError, match=r"wrong table 'orders' options: unknown option 'scan.startup.mod'; did you"):
        read_options(**{"scan.startup.mod": "x"})


def test_parallelism_is_a_number():
    assert "sink.parallelism" not in written_options(**{"sink.parallelism": "3"})
    with pytest.raises(OptionsError, match=r"'sink.parallelism': expected a whole number above 0; got 'many'"):
        written_options(**{"sink.parallelism": "many"})


def test_the_deprecated_name_of_the_guarantee_is_known(caplog):
    written_options(**{"sink.semantic": "none"})


def test_no_secret_is_shown():
    table = describe(**{"properties.sasl.password": "hunter2", "properties.sasl.username": "me"})
    assert "hunter2" not in repr(KafkaTableFactory().source(table).options)


def upsert_table(*columns: TableColumn, **options: str) -> TableDescription:
    given = CONNECTION | {"key.format": "json", "value.format": "json"} | options
    return TableDescription(("default", "default", "orders"), columns or (ID, NAME), ("id",), options=given)


def test_the_primary_key_is_the_key_of_messages():
    factory = UpsertKafkaTableFactory()
    source, sink = factory.source(upsert_table()), factory.sink(upsert_table())
    assert source.options["key.fields"] == sink.options["key.fields"] == "id"
    assert source.options["connector"] == "upsert-kafka"
    assert not {"scan.startup.mode", "table-name"} & source.options.keys()
    assert (source.changelog_mode, sink.changelog_mode) == (ChangelogMode.ALL, ChangelogMode.UPSERT)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (describe(), "requires a primary key"),
        (upsert_table(**{"key.fields": "id"}), "'key.fields': the key's columns are those of PRIMARY KEY"),
        (upsert_table(**{"changelog.mode": "upsert"}), "'changelog.mode'"),
        (upsert_table(metadata("id", "offset", sql.LongType()), NAME), "column 'id' of the primary key is metadata"),
        (upsert_table(topic="a;b"), "option 'topic' must name one topic"),
        (upsert_table(**{"scan.startup.mode": "latest-offset"}), "must be 'earliest-offset'"),
    ],
)
def test_tables_that_have_no_changes(table, said):
    with pytest.raises(OptionsError, match="table 'orders'") as error:
        UpsertKafkaTableFactory().source(table)
    assert said in str(error.value)


def test_half_a_buffer_is_refused_in_a_write():
    with pytest.raises(OptionsError, match=r"sink.buffer-flush.max-rows"):
        UpsertKafkaTableFactory().sink(upsert_table(**{"sink.buffer-flush.max-rows": "5"}))


def test_quotes_of_jaas_may_be_escaped_as_in_flink():
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    secured = {"properties.security.protocol": "SASL_PLAINTEXT", "properties.sasl.mechanism": "PLAIN"}
    jaas = {"properties.sasl.jaas.config": rf"{module} username=\"me\" password=\"secret\";"}
    options = read_options(**secured, **jaas)
    assert options["properties.sasl.jaas.config"] == f'{module} username="me" password="secret";'
    kept = f'{module} username="me" password="a\\"b";'
    assert read_options(**secured, **{"properties.sasl.jaas.config": kept})["properties.sasl.jaas.config"] == kept


def test_change_logs_that_may_repeat_events_are_normalized_by_the_primary_key():
    keyed = replace(describe(ID, NAME, format="debezium-json"), primary_key=("ID",), cdc_events_duplicate=True)
    source = KafkaTableFactory().source(keyed)
    assert source.options["changelog.primary-key"] == "id"
    assert (str(source.raw_changelog_mode), str(source.changelog_mode)) == ("[I,UA,D]", "[I,UB,UA,D]")
    assert "changelog.primary-key" not in KafkaTableFactory().sink(keyed).options
    for other in (replace(keyed, cdc_events_duplicate=False), replace(keyed, options=describe().options)):
        assert KafkaTableFactory().source(other).raw_changelog_mode is None
    with pytest.raises(OptionsError, match=r"table 'orders' .*cdc-events-duplicate' = 'true' requires a primary key"):
        KafkaTableFactory().source(replace(keyed, primary_key=()))


def test_updates_without_their_old_rows_are_normalized_by_the_primary_key():
    lacking = {"format": "debezium-json", "debezium-json.updates-without-old-row": "upsert"}
    keyed = replace(describe(ID, NAME, **lacking), primary_key=("ID",))
    source = KafkaTableFactory().source(keyed)
    assert source.options["changelog.primary-key"] == "id"
    assert (str(source.raw_changelog_mode), str(source.changelog_mode)) == ("[I,UA,D]", "[I,UB,UA,D]")
    with pytest.raises(OptionsError, match=r"table 'orders' .*updates-without-old-row' = 'upsert' .* a primary key"):
        KafkaTableFactory().source(replace(keyed, primary_key=()))


def test_changes_of_a_table_are_read_from_a_position(monkeypatch):
    from millrace_sql.connectors.kafka.upsert_source import UpsertKafkaSource

    class Reader:
        """Spark's reader, as far as it is used."""

        def __init__(self):
            self.read, self.given, self.fields = self, {}, None

        def format(self, _):
            return self

        def options(self, **options):
            self.given = options
            return self

        def schema(self, fields):
            self.fields = fields
            return self

        def load(self):
            return self

    reader = Reader()
    required = TableColumn("city", sql.StringType(), nullable=False)
    source = UpsertKafkaTableFactory().source(upsert_table(ID, required))
    monkeypatch.setattr(UpsertKafkaSource, "_declared", lambda _, rows: rows)
    source.read_changes(reader, None)
    assert reader.given["changelog.mode"] == "upsert"
    assert "scan.startup.mode" not in reader.given
    # A deleted row has its key only
    assert [(each.name, each.nullable) for each in reader.fields][:2] == [("id", True), ("city", True)]
    source.read_changes(reader, "partition:0,offset:7")
    assert configure_source(reader.given).startup.options.others == "earliest"
