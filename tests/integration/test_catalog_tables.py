"""Topics of changes, and topics with several tables, as tables of the catalog, on a real broker."""

from __future__ import annotations

import json

import pytest
from pyspark.errors import PySparkException

from millrace.errors import MessageError, SchemaError
from millrace_catalog import KafkaJsonCatalog, restart_on_schema_change
from support.kafka import produce


@pytest.fixture
def write(broker, make_topic):
    """Writes messages to a new topic, and says its name."""

    def write(*messages):
        topic = make_topic()
        produce(broker.bootstrap_servers, topic, [{"value": each} for each in messages])
        return topic

    return write


@pytest.fixture
def catalog(connection):
    """Makes catalogs."""
    return lambda options=(): KafkaJsonCatalog.from_options({**connection, **dict(options)})


def values_of(table):
    return [(column.name, column.type) for column in table.columns if column.part == "value"]


def rows_of(table, spark, *columns):
    return [tuple(row) for row in table.read(spark).orderBy("partition", "offset").select(*columns).collect()]


def change(table, kind, *rows, keys=("id",), **more):
    names = {"database": "shop", "table": table, "type": kind, "pkNames": keys}
    return json.dumps({**names, "data": rows, **more}).encode()


CHANGES = [
    change("orders", "INSERT", {"id": "1", "paid": "1"}, {"id": "2", "paid": "0"}),
    change("orders", "UPDATE", {"id": "1", "paid": "0"}, old=[{"paid": "1"}]),
]
TYPES = {"sqlType": {"id": 4, "paid": -6}, "mysqlType": {"id": "int", "paid": "tinyint(1)"}}


@pytest.mark.parametrize(
    ("strategy", "types"),
    [
        ({}, ["STRING", "STRING"]),
        ({"strategy": "SQL_TYPE"}, ["INT", "TINYINT"]),
        ({"strategy": "MYSQL_TYPE"}, ["INT", "BOOLEAN"]),
        ({"strategy": "MYSQL_TYPE", "tinyint1": "false"}, ["INT", "TINYINT"]),
    ],
    ids=str,
)
def test_a_topic_of_changes_is_a_changelog_table(spark, write, catalog, strategy, types):
    options = {"format": "canal-json", "canal-json.table.include": "orders"}
    names = {"strategy": "infer-schema.strategy", "tinyint1": "mysql.treat-tinyint1-as-boolean.enabled"}
    options |= {f"canal-json.{names[name]}": value for name, value in strategy.items()}
    typed = [json.dumps({**json.loads(each), **TYPES}).encode() for each in CHANGES]
    topic = write(typed[0], change("audit", "INSERT", {"who": "me"}, keys=("who",), **TYPES), typed[1])

    table = catalog(options).table(topic)

    assert values_of(table) == list(zip(["id", "paid"], types, strict=True))
    assert table.primary_key == ("id",)
    assert table.describe().startswith(f"changelog table {topic}, primary key (id)")
    assert "row_kind" not in table.ddl()
    rows = table.read(spark).orderBy("offset").selectExpr("row_kind", "string(int(id))", "string(int(paid))", "offset")
    assert sorted(map(tuple, rows.collect())) == [
        *(("+I", "1", "1", 0), ("+I", "2", "0", 0)),
        *(("+U", "1", "0", 2), ("-U", "1", "1", 2)),
    ]
    with pytest.raises(SchemaError, match="format canal-json are changes, of which there is no JSON Schema"):
        table.json_schema()
    with pytest.raises(SchemaError, match="has format canal-json, and only columns of json can follow"):
        restart_on_schema_change(table, lambda rows, _: rows, spark=spark, checkpoint_location="not-used")


def test_changes_of_debezium_are_a_table_without_a_key_of_its_own(spark, write, catalog, tmp_path):
    topic = write(b'{"before": null, "after": {"id": 1, "at": "2020-12-30 12:13:14"}, "op": "c"}')

    table = catalog({"format": "debezium-json"}).table(topic)

    assert values_of(table) == [("id", "BIGINT"), ("at", "TIMESTAMP(6)")]
    assert table.primary_key == ()
    assert ", no primary key\n" in table.describe()
    stream = table.read_stream(spark, {"scan.startup.mode": "earliest-offset"})
    writing = stream.writeStream.format("memory").queryName("changes").option("checkpointLocation", str(tmp_path))
    writing.trigger(availableNow=True).start().awaitTermination()
    assert [(row.row_kind, row.id) for row in spark.table("changes").collect()] == [("+I", 1)]
    as_text = catalog({"format": "debezium-json", "debezium-json.infer-schema.primitive-as-string": "true"})
    assert values_of(as_text.table(topic)) == [("id", "STRING"), ("at", "STRING")]


def test_a_topic_with_several_tables(spark, write, connection, catalog):
    topic = write(
        b'{"db": "shop", "table": "orders", "id": 1, "price": 1.5}',
        b'{"db": "shop", "table": "users", "id": "me", "born": "2020-12-30"}',
        b'{"db": "shop", "table": "orders", "id": 2, "price": 7}',
    )
    options = {"json.decode.parser-table-id.fields": "db,table"}

    tables = catalog(options).tables_of(topic)

    assert list(tables) == ["shop.orders", "shop.users"]
    orders, users = tables.values()
    of_all = [("db", "STRING"), ("table", "STRING")]
    assert values_of(orders) == [*of_all, ("id", "BIGINT"), ("price", "DOUBLE")]
    assert values_of(users) == [*of_all, ("id", "STRING"), ("born", "DATE")]
    assert rows_of(orders, spark, "id", "price", "offset") == [(1, 1.5, 0), (2, 7.0, 2)]
    assert rows_of(users, spark, "id", "offset") == [("me", 1)]
    assert users.describe().startswith("table shop.users, primary key (partition, offset)")
    with pytest.raises(SchemaError, match=r"'shop\.users' is one of several in its topic"):
        restart_on_schema_change(users, lambda rows, _: rows, spark=spark, checkpoint_location="not-used")
    assert ("id", "STRING") in values_of(catalog(options).table(topic))
    assert list(catalog().tables_of(topic)) == [topic]

    # The data source reads one table, too, and infers its columns
    options |= {**connection, "topic": topic, "format": "json"}
    found = spark.read.format("millrace").options(**options, **{"json.table.include": r"shop\.ord.*"}).load()
    assert found.dtypes == [("db", "string"), ("table", "string"), ("id", "bigint"), ("price", "double")]
    assert [row.id for row in found.orderBy("id").collect()] == [1, 2]
    with pytest.raises(PySparkException, match=r"parser-table-id\.fields requires table\.include"):
        spark.read.format("millrace").options(**options).load()
    untold, of_tables = write(b'{"db": "shop"}'), catalog({"json.decode.parser-table-id.fields": "db,table"})
    with pytest.raises(MessageError, match="partition 0, offset 0: field table, which names the table, is missing"):
        of_tables.tables_of(untold)
