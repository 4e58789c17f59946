"""Tables of SQL through their factories: what is read, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from pyspark.sql import types as sql

from millrace.contracts import ROW_KIND_COLUMN, ScanContext, SinkContext, TableColumn, TableDescription
from millrace.errors import MachineError, OptionsError, SchemaError, UnknownPluginError
from millrace_sql.connectors.lookup import table_factory
from millrace_sql.connectors.table_copy import copy_table
from support.kafka import consume, produce
from support.waiting import PATIENCE_S

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from millrace_broker import KafkaBroker

BATCH, STREAM = ScanContext(streaming=False), ScanContext(streaming=True)
ID, NAME = TableColumn("id", sql.LongType(), nullable=False), TableColumn("name", sql.StringType())


def describe(*columns: TableColumn, name: str = "orders", **options: Any) -> TableDescription:
    more = {key: options.pop(key) for key in ("partition_keys", "primary_key") if key in options}
    return TableDescription(("default", "default", name), columns, options=options.pop("options", {}) | options, **more)


def run(rows: DataFrame, table: TableDescription, connector: str, folder: Path, output_mode: str = "append") -> None:
    context = SinkContext(
        checkpoint_location=str(folder / f"checkpoint-{table.name}"),
        trigger={"availableNow": True},
        output_mode=output_mode,
    )
    query = table_factory(connector, rows.sparkSession).sink(table).start(rows, context)
    try:
        assert query.awaitTermination(PATIENCE_S)
    finally:
        query.stop()


@pytest.fixture
def utc(spark) -> Iterator[None]:
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    yield
    spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.fixture
def servers(broker: KafkaBroker) -> str:
    return broker.bootstrap_servers


@pytest.fixture
def kafka(connection: dict[str, Any]) -> Callable[..., TableDescription]:
    def make(*columns: TableColumn, **options: Any) -> TableDescription:
        return describe(
            *columns,
            options={**connection, "scan.startup.mode": "earliest-offset"} | options.pop("options", {}),
            **options,
        )

    return make


class TestKafka:
    def test_metadata_columns_have_their_declared_types(self, spark, servers, make_topic, kafka) -> None:
        topic = make_topic()
        produce(servers, topic, [{"key": b"k", "value": b'{"id": 1, "name": "a"}'}])
        table = kafka(
            ID,
            TableColumn("at", sql.TimestampNTZType(), metadata_key="timestamp"),
            TableColumn("part", sql.LongType(), nullable=False, metadata_key="partition"),
            TableColumn("offset", sql.IntegerType(), metadata_key="offset"),
            TableColumn("raw key", sql.StringType(), metadata_key="__raw_key__"),
            TableColumn("where from", sql.StringType(), metadata_key="topic"),
            TableColumn("headers", sql.MapType(sql.StringType(), sql.BinaryType()), metadata_key="headers"),
            topic=topic,
            format="json",
        )
        rows = table_factory("kafka", spark).source(table).read(spark, BATCH)
        assert [(field.name, field.dataType) for field in rows.schema] == [
            (column.name, column.type) for column in table.columns
        ]
        (row,) = rows.drop("at").collect()
        assert tuple(row) == (1, 0, 0, "k", topic, {})

    @pytest.mark.usefixtures("utc")
    def test_metadata_is_written_unless_it_is_virtual(self, spark, servers, make_topic, kafka) -> None:
        topic = make_topic()
        table = kafka(
            ID,
            TableColumn("at", sql.TimestampNTZType(), metadata_key="timestamp"),
            TableColumn("raw key", sql.BinaryType(), metadata_key="__raw_key__"),
            TableColumn("offset", sql.LongType(), metadata_key="offset", is_virtual=True),
            topic=topic,
            format="json",
            options={"sink.parallelism": "2"},
        )
        rows = spark.sql("SELECT 7L AS id, timestamp_ntz'2023-03-25 12:02:02' AS at, x'6b' AS `raw key`")
        table_factory("kafka", spark).sink(table).write(rows, SinkContext())
        (record,) = consume(servers, topic)
        assert (record.key(), json.loads(record.value()), record.timestamp()[1]) == (b"k", {"id": 7}, 1679745722000)

    def test_a_table_starts_at_the_offsets_of_its_group(self, spark, connection, make_topic) -> None:
        table = describe(ID, options={**connection, "topic": make_topic(), "format": "json"})
        with pytest.raises(Exception, match="startup mode 'group-offsets' has no offset"):
            table_factory("kafka", spark).source(table).read(spark, BATCH).collect()

    def test_changes_keep_their_kinds_from_topic_to_topic(self, spark, servers, make_topic, kafka, tmp_path) -> None:
        source, target = make_topic(), make_topic()
        change = {
            "before": {"id": 1, "name": "a"},
            "after": {"id": 1, "name": "b"},
            "op": "u",
            "source": {"table": "t"},
        }
        produce(servers, source, [{"value": json.dumps(change).encode()}])
        origin = TableColumn("origin", sql.StringType(), metadata_key="value.source.table", is_virtual=True)
        read = kafka(ID, NAME, origin, topic=source, format="debezium-json")
        rows = table_factory("kafka", spark).source(read).read(spark, STREAM)
        assert rows.columns == ["id", "name", "origin", ROW_KIND_COLUMN]
        run(rows, kafka(ID, NAME, origin, topic=target, format="debezium-json"), "kafka", tmp_path)
        assert [json.loads(record.value())["op"] for record in consume(servers, target)] == ["d", "c"]

    def test_an_aggregation_updates_through_foreach_batch(self, spark, servers, make_topic, kafka, tmp_path) -> None:
        source, target = make_topic(), make_topic()
        produce(servers, source, [{"value": b'{"id": 1, "name": "a"}'}] * 3)
        rows = table_factory("kafka", spark).source(kafka(ID, NAME, topic=source, format="json")).read(spark, STREAM)
        count = TableColumn("count", sql.LongType())
        run(rows.groupBy("name").count(), kafka(NAME, count, topic=target, format="json"), "kafka", tmp_path, "update")
        assert [json.loads(record.value()) for record in consume(servers, target)] == [{"name": "a", "count": 3}]

    def test_columns_are_inferred_beside_the_declared_ones(self, spark, servers, make_topic, kafka) -> None:
        topic = make_topic()
        produce(servers, topic, [{"key": b'{"id": 5}', "value": b'{"name": "a", "at": 1, "price": 1.5}'}])
        keyed = {"key.format": "json", "key.fields": "key_id;key_more", "key.fields-prefix": "key_"}
        at = TableColumn("at", sql.TimestampType(), metadata_key="timestamp")
        table = kafka(TableColumn("price", sql.StringType()), at, topic=topic, format="json", options=keyed)
        columns = table_factory("kafka", spark).infer_columns(table, spark)
        assert [(column.name, column.type.simpleString()) for column in columns] == [
            ("price", "string"),
            ("at", "timestamp"),
            ("key_id", "string"),
            ("key_more", "string"),
            ("name", "string"),
        ]

    def test_a_topic_without_messages_tells_no_columns(self, spark, make_topic, kafka) -> None:
        topic = make_topic()
        with pytest.raises(SchemaError, match=rf"table 'orders': .*{topic}"):
            table_factory("kafka", spark).infer_columns(kafka(topic=topic, format="json"), spark)


class TestUpsertKafka:
    FORMATS: ClassVar = {"key.format": "csv", "value.format": "json"}

    def test_changes_are_written_and_read_back(self, spark, servers, make_topic, connection, tmp_path, capsys) -> None:
        options = {**connection, **self.FORMATS, "topic": make_topic(2), "sink.parallelism": "2"}
        table = describe(ID, NAME, primary_key=("id",), options=options)
        factory = table_factory("upsert-kafka", spark)
        changes = spark.sql(
            "SELECT * FROM VALUES (1L, 'a', '+I'), (2L, 'b', '+I'), (1L, 'c', '+U'), (2L, 'b', '-D') "
            "AS changes(id, name, __row_kind)"
        )
        factory.sink(table).write(changes.coalesce(1), SinkContext())
        assert {
            (each.key(), each.value() and json.loads(each.value())["name"])
            for each in consume(servers, options["topic"])
        } == {(b"1", "a"), (b"2", "b"), (b"1", "c"), (b"2", None)}
        stream = factory.source(table).read(spark, ScanContext(streaming=True, state_location=str(tmp_path / "state")))
        assert stream.columns == ["id", "name", ROW_KIND_COLUMN]
        run(stream, describe(ID, NAME, name="out"), "print", tmp_path)
        printed = capsys.readouterr().out.splitlines()
        assert [line for line in printed if "[1," in line] == ["+I[1, a]", "-U[1, a]", "+U[1, c]"]
        assert [line for line in printed if "[2," in line] == ["+I[2, b]", "-D[2, b]"]
        batch = factory.source(table).read(spark, BATCH)
        assert list(map(tuple, batch.collect())) == [(1, "c", "+I")]

    def test_an_aggregation_replaces_its_groups(self, spark, servers, make_topic, connection, kafka, tmp_path) -> None:
        source = make_topic()
        produce(servers, source, [{"value": b'{"id": 1, "name": "a"}'}] * 3)
        rows = table_factory("kafka", spark).source(kafka(ID, NAME, topic=source, format="json")).read(spark, STREAM)
        options = {**connection, **self.FORMATS, "topic": make_topic()}
        count = TableColumn("count", sql.LongType())
        table = describe(NAME, count, primary_key=("name",), options=options)
        run(rows.groupBy("name").count(), table, "upsert-kafka", tmp_path, "update")
        (record,) = consume(servers, options["topic"])
        assert (record.key(), json.loads(record.value())) == (b"a", {"name": "a", "count": 3})


def test_a_topic_is_copied_with_computed_columns(spark, servers, make_topic, kafka, tmp_path) -> None:
    topic = make_topic()
    message = {"distinct_id": 1, "properties": {"order_id": "a"}, "more": 1.5}
    produce(servers, topic, [{"value": json.dumps(message).encode()}])
    source = kafka(
        TableColumn("distinct_id", sql.IntegerType(), nullable=False),
        TableColumn("properties", sql.StringType()),
        TableColumn("part", sql.LongType(), metadata_key="partition"),
        TableColumn("sent", sql.TimestampType(), metadata_key="timestamp"),
        TableColumn("date", sql.DateType(), expression="CAST(sent AS DATE)"),
        topic=topic,
        format="json",
    )
    target = describe(name="sync", options={"path": str(tmp_path / "sync"), "format": "parquet"})
    copy = copy_table(
        source,
        target,
        "filesystem",
        {"order_id": "get_json_object(properties, '$.order_id')"},
        spark=spark,
        checkpoint_location=str(tmp_path / "checkpoint"),
        column_places={"order_id": "DISTINCT_ID"},
        trigger={"availableNow": True},
    )
    with copy:
        assert copy.await_termination(120)
    copied = spark.read.parquet(str(tmp_path / "sync"))
    (row,) = copied.where("date = CAST(timestamp AS DATE)").collect()
    names = ["distinct_id", "order_id", "properties", "more", "partition", "offset", "timestamp", "part", "sent"]
    assert list(row.asDict()) == [*names, "date"]
    assert (row.distinct_id, row.more, row.part, row.order_id) == (1, 1.5, 0, "a")


class TestPrint:
    def test_rows_are_printed_as_flink_prints_them(self, spark, capsys, tmp_path) -> None:
        rows = spark.sql("SELECT 1L AS id, 'a' AS name, '+I' AS __row_kind UNION ALL SELECT 1, null, '-D'")
        table = describe(ID, NAME, options={"print-identifier": "out"})
        table_factory("print", spark).sink(table).write(rows, SinkContext())
        assert capsys.readouterr().out == "out> +I[1, a]\nout> -D[1, null]\n"

    def test_tasks_are_numbered(self, spark, capsys) -> None:
        table = describe(ID, options={"sink.parallelism": "2", "standard-error": "true"})
        table_factory("print", spark).sink(table).write(spark.range(4), SinkContext())
        lines = capsys.readouterr().err.splitlines()
        assert {line.partition(" ")[0] for line in lines} == {"1>", "2>"}
        assert sorted(line.partition(" ")[2] for line in lines) == [f"+I[{number}]" for number in range(4)]


class TestDatagen:
    COLUMNS = (
        ID,
        TableColumn("small", sql.ByteType()),
        TableColumn("big", sql.LongType()),
        TableColumn("price", sql.DecimalType(6, 2)),
        TableColumn("ratio", sql.FloatType()),
        TableColumn("text", sql.StringType()),
        TableColumn("data", sql.BinaryType()),
        TableColumn("flag", sql.BooleanType()),
        TableColumn("at", sql.TimestampType()),
        TableColumn("day", sql.DateType()),
        TableColumn("inner", sql.StructType([sql.StructField("a", sql.IntegerType())])),
        TableColumn("list", sql.ArrayType(sql.IntegerType())),
        TableColumn("map", sql.MapType(sql.IntegerType(), sql.StringType())),
    )
    OPTIONS: ClassVar = {
        "fields.id.kind": "sequence",
        "fields.id.start": "10",
        "fields.id.end": "59",
        "fields.small.min": "-3",
        "fields.small.max": "3",
        "fields.price.min": "5",
        "fields.price.max": "10",
        "fields.text.length": "5",
        "fields.text.null-rate": "0.5",
        "fields.data.length": "20",
        "fields.data.var-len": "true",
        "fields.inner.a.max": "0",
        "fields.list.length": "2",
        "fields.map.key.min": "0",
        "fields.map.key.max": "1",
    }

    def test_values_keep_to_the_options(self, spark) -> None:
        table = describe(*self.COLUMNS, options=self.OPTIONS)
        source = table_factory("datagen", spark).source(table)
        assert source.is_bounded
        read = source.read(spark, BATCH)
        assert [field.dataType for field in read.schema] == [column.type for column in self.COLUMNS]
        rows = read.collect()
        assert [row.id for row in rows] == list(range(10, 60))
        assert {row.small for row in rows} == set(range(-3, 4))
        assert all(5 <= row.price <= 10 for row in rows)
        assert {None, 5} == {row.text and len(row.text) for row in rows}
        assert {len(row.data) for row in rows} <= set(range(1, 21))
        assert len({len(row.data) for row in rows}) > 5
        assert len({row.big for row in rows}) == 50
        assert {row.flag for row in rows} == {True, False}
        assert all(row.inner.a <= 0 for row in rows)
        assert {len(row.list) for row in rows} == {2}
        assert {len(row.map) for row in rows} == {1, 2}

    @pytest.mark.nightly
    def test_a_stream_ends_with_its_rows_and_repeats_them(self, spark, tmp_path, capsys) -> None:
        table = describe(ID, NAME, options={**self.FOR_STREAM, "rows-per-second": "2"})
        source = table_factory("datagen", spark).source(table)
        run(source.read(spark, STREAM), describe(ID, NAME, name="out"), "print", tmp_path)
        printed = capsys.readouterr().out.splitlines()
        batch = source.read(spark, BATCH).collect()
        assert sorted(printed) == sorted(f"+I[{row.id}, {row.name}]" for row in batch)
        assert len(printed) == 25

    FOR_STREAM: ClassVar = {"number-of-rows": "25", "scan.parallelism": "2", "fields.name.length": "4"}


class TestFilesystem:
    def test_a_stream_writes_partitions_that_a_batch_reads(self, spark, tmp_path) -> None:
        path = str(tmp_path / "files")
        options = {"path": path, "format": "csv", "csv.field-delimiter": ";", "csv.header": "true"}
        name = TableColumn("file", sql.StringType(), metadata_key="file.name", is_virtual=True)
        table = describe(ID, NAME, name, partition_keys=("name",), options=options)
        generated = describe(ID, NAME, options={"number-of-rows": "5", "fields.name.length": "1"})
        rows = table_factory("datagen", spark).source(generated).read(spark, STREAM)
        run(rows, table, "filesystem", tmp_path)
        read = table_factory("filesystem", spark).source(table).read(spark, BATCH).collect()
        assert len(read) == 5
        assert all(row.file.endswith(".csv") for row in read)
        with pytest.raises(OptionsError, match="a stream has written to"):
            table_factory("filesystem", spark).sink(table).write(spark.sql("SELECT 1L id, 'a' name"), SinkContext())

    def test_overwriting_replaces_the_partitions_of_the_rows(self, spark, tmp_path) -> None:
        table = describe(
            ID, NAME, partition_keys=("name",), options={"path": str(tmp_path / "files"), "format": "parquet"}
        )
        sink = table_factory("filesystem", spark).sink(table)
        sink.write(spark.sql("SELECT 1L AS id, 'a' AS name UNION ALL SELECT 2, 'b'"), SinkContext())
        sink.write(spark.sql("SELECT 3L AS id, 'a' AS name"), SinkContext(overwrite=True))
        rows = table_factory("filesystem", spark).source(table).read(spark, BATCH)
        assert sorted(map(tuple, rows.collect())) == [(2, "b"), (3, "a")]

    def test_columns_are_those_of_the_files(self, spark, tmp_path) -> None:
        spark.sql("SELECT 1L AS id, 'a' AS name").write.parquet(str(tmp_path / "files"))
        table = describe(options={"path": str(tmp_path / "files"), "format": "parquet"})
        columns = table_factory("filesystem", spark).infer_columns(table, spark)
        assert [(column.name, column.type) for column in columns] == [
            ("id", sql.LongType()),
            ("name", sql.StringType()),
        ]


class TestJdbc:
    URL: ClassVar = {"url": "jdbc:derby:memory:sql;create=true", "table-name": "ORDERS"}

    def test_a_table_is_written_read_and_overwritten(self, spark) -> None:
        table = describe(ID, NAME, options={**self.URL, "sink.parallelism": "2"})
        factory = table_factory("jdbc", spark)
        for kept, overwrite in ((1, True), (2, False), (3, True)):
            rows = spark.sql(f"SELECT {kept}L AS id, 'a' AS name")
            factory.sink(table).write(rows, SinkContext(overwrite=overwrite))
        rows = factory.source(table).read(spark, STREAM)
        assert not rows.isStreaming
        assert list(map(tuple, rows.collect())) == [(3, "a")]
        inferred = factory.infer_columns(describe(options=self.URL), spark)
        assert [column.name.lower() for column in inferred] == ["id", "name"]

    def test_a_missing_driver_is_named(self, spark) -> None:
        table = describe(ID, options={"url": "jdbc:nothing:here", "table-name": "t", "password": "secret"})
        with pytest.raises(MachineError, match="no JDBC driver"):
            table_factory("jdbc", spark).source(table).read(spark, BATCH)


class TestOtherFormats:
    def test_a_format_of_spark_is_a_connector(self, spark, tmp_path) -> None:
        table = describe(ID, NAME, options={"path": str(tmp_path / "files")})
        factory = table_factory("orc", spark)
        factory.sink(table).write(spark.sql("SELECT 1L AS id, 'a' AS name"), SinkContext())
        assert list(map(tuple, factory.source(table).read(spark, BATCH).collect())) == [(1, "a")]
        columns = factory.infer_columns(describe(options={"path": str(tmp_path / "files")}), spark)
        assert [column.name for column in columns] == ["id", "name"]

    def test_a_format_with_columns_of_its_own(self, spark) -> None:
        value = TableColumn("value", sql.StringType())
        rows = table_factory("rate", spark).source(describe(value)).read(spark, STREAM)
        assert rows.schema.simpleString() == "struct<value:string>"
        with pytest.raises(SchemaError, match="did you mean 'value'"):
            table_factory("rate", spark).source(describe(TableColumn("valu", value.type))).read(spark, STREAM)

    def test_an_unknown_connector_is_refused(self, spark) -> None:
        with pytest.raises(UnknownPluginError, match=r"unknown connector 'kafak'; installed: .*Did you mean 'kafka'"):
            table_factory("kafak", spark)
