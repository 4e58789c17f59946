"""Change logs through Spark, from and to the real broker: those of the cases, row for row and byte for byte."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal

import numpy as np
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.functions import col

from support.cases import CASES
from support.kafka import consume, produce
from support.waiting import PATIENCE_S

COLUMNS = "id INT NOT NULL, name STRING, description STRING, weight FLOAT"
FILES = {
    "debezium-json": [("mysql-schema-exclude.txt", {}), ("mysql-schema-include.txt", {"schema-include": "true"})],
    "canal-json": [("data.txt", {}), ("data.txt", {"database.include": "inv.*", "table.include": r"products\d"})],
    "maxwell-json": [("data.txt", {})],
}
READS = [(name, file, options) for name, files in FILES.items() for file, options in files]
PRODUCT = '{"id":1,"name":"scooter","description":null,"weight":3.14}'


def lines(name: str, file: str) -> list[str]:
    return (CASES / name / file).read_text().splitlines()


def options_of(name, options):
    return {"format": name, **{f"{name}.{option}": value for option, value in options.items()}}


def read(spark, connection, topic, name, options=None, schema=f"row_kind STRING, {COLUMNS}"):
    reader = spark.read.format("millrace").options(**connection, topic=topic, **options_of(name, options or {}))
    return reader.schema(schema).load()


def shown(row) -> str:
    """A row as the expected ones are written."""
    kind, *values = row
    texts = [
        "null" if value is None else str(np.float32(value) if isinstance(value, float) else value) for value in values
    ]
    return f"{kind}({','.join(texts)})"


def debezium(op, before="null", after="null") -> bytes:
    source = '{"db":"shop","table":"products","ts_ms":1589362330000}'
    return f'{{"before":{before},"after":{after},"source":{source},"op":"{op}","ts_ms":1589362330904}}'.encode()


@pytest.mark.cases
@pytest.mark.parametrize(("name", "file", "options"), READS)
def test_rows_of_a_change_log_are_the_expected_ones(spark, connection, broker, make_topic, name, file, options):
    topic = make_topic()
    # A tombstone behind each message, null or without any byte
    records = [{"value": value} for line in lines(name, file) for value in (line.encode(), None, b"")]
    produce(broker.bootstrap_servers, topic, records)

    rows = read(spark, connection, topic, name, options).collect()

    assert [shown(row) for row in rows] == lines(name, "expected-rows.txt")


@pytest.mark.cases
@pytest.mark.parametrize("name", FILES)
def test_messages_that_are_written_are_the_expected_ones(spark, connection, broker, make_topic, name):
    source, target = make_topic(), make_topic()
    file, _ = FILES[name][0]
    produce(broker.bootstrap_servers, source, [{"value": line.encode()} for line in lines(name, file)])

    rows = read(spark, connection, source, name)
    rows.write.format("millrace").options(**connection, topic=target, format=name).mode("append").save()

    written = [message.value().decode() for message in consume(broker.bootstrap_servers, target)]
    assert written == lines(name, "expected-serialized.txt")


@pytest.mark.cases
@pytest.mark.parametrize("name", FILES)
def test_what_is_written_is_read_with_the_halves_of_updates_apart(spark, connection, broker, make_topic, name):
    source, target = make_topic(), make_topic()
    file, _ = FILES[name][0]
    produce(broker.bootstrap_servers, source, [{"value": line.encode()} for line in lines(name, file)])
    rows = read(spark, connection, source, name)
    rows.write.format("millrace").options(**connection, topic=target, format=name).mode("append").save()

    apart = {"-U": "-D", "+U": "+I"}
    expected = [(apart.get(kind, kind), *values) for kind, *values in rows.collect()]
    assert [tuple(row) for row in read(spark, connection, target, name).collect()] == expected


METADATA = {
    "debezium-json": (
        "value.ingestion-timestamp AS at, value.source.timestamp AS changed, value.source.database AS db, "
        "value.source.schema AS s, value.source.table AS t, value.source.properties AS p, value.schema AS j",
        "at TIMESTAMP, changed TIMESTAMP, db STRING, s STRING, t STRING, p MAP<STRING, STRING>, j STRING",
        {
            "at": datetime(2020, 5, 13, 7, 40, 6, 100_000),
            "changed": datetime(1970, 1, 1),
            "db": "inventory",
            "s": None,
            "t": "products",
            "p": {
                "version": "1.1.1.Final",
                "connector": "mysql",
                "name": "dbserver1",
                "ts_ms": "0",
                "snapshot": "true",
                "db": "inventory",
                "table": "products",
                "server_id": "0",
                "gtid": None,
                "file": "mysql-bin.000003",
                "pos": "154",
                "row": "0",
                "thread": None,
                "query": None,
            },
            "j": None,
        },
    ),
    "canal-json": (
        "value.database AS db, value.table AS t, value.sql-type AS types, value.pk-names AS keys, "
        "value.ingestion-timestamp AS at, value.event-timestamp AS changed",
        "db STRING, t STRING, types MAP<STRING, INT>, keys ARRAY<STRING>, at TIMESTAMP, changed TIMESTAMP",
        {
            "db": "inventory",
            "t": "products2",
            "types": {"id": 4, "name": 12, "description": 12, "weight": 7},
            "keys": ["id"],
            "at": datetime(2020, 5, 13, 12, 38, 35, 477_000),
            "changed": datetime(2020, 5, 13, 12, 38, 35),
        },
    ),
    "maxwell-json": (
        "value.database AS db, value.table AS t, value.primary-key-columns AS keys, value.ingestion-timestamp AS at",
        "db STRING, t STRING, keys ARRAY<STRING>, at TIMESTAMP",
        {"db": "test", "t": "product", "keys": ["id"], "at": datetime(2020, 8, 6, 3, 34, 43)},
    ),
}


MYSQL = (
    b'{"data":[{"id":"1","paid":"1"}],"type":"INSERT","database":"shop","table":"orders","pkNames":["id"],'
    b'"sqlType":{"id":4,"paid":-6},"mysqlType":{"id":"int","paid":"tinyint(1)"}}'
)


@pytest.mark.parametrize(
    "strategy",
    [
        {"infer-schema.strategy": "SQL_TYPE"},
        {"infer-schema.strategy": "MYSQL_TYPE", "mysql.treat-tinyint1-as-boolean.enabled": "false"},
    ],
    ids=["sqlType", "mysqlType"],
)
def test_columns_of_changes_are_inferred(spark, connection, broker, make_topic, strategy):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": MYSQL}])

    rows = spark.read.format("millrace").options(**connection, topic=topic, **options_of("canal-json", strategy)).load()

    assert rows.dtypes == [("row_kind", "string"), ("id", "int"), ("paid", "tinyint")]
    assert rows.collect() == [("+I", 1, 1)]


@pytest.mark.parametrize("strategy", ["SQL_TYPE", "MYSQL_TYPE"])
def test_values_of_inferred_columns_are_those_of_the_database(spark, connection, broker, make_topic, strategy):
    topic = make_topic(1)
    message = {
        "data": [{"id": "18446744073709551615", "hash": "abcd\xff", "paid": "1", "price": "0.12345678901234567890"}],
        "type": "INSERT",
        "sqlType": {"id": -5, "hash": 2004, "paid": -7, "price": 3},
        "mysqlType": {"id": "serial", "hash": "varbinary(5)", "paid": "tinyint(1)", "price": "decimal"},
    }
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(message).encode()}])

    options = options_of("canal-json", {"infer-schema.strategy": strategy})
    (row,) = spark.read.format("millrace").options(**connection, topic=topic, **options).load().collect()

    assert (row.id, bytes(row.hash), row.paid) == (Decimal(18446744073709551615), b"abcd\xff", True)
    assert Decimal(row.price) == Decimal("0.12345678901234567890")


@pytest.mark.cases
@pytest.mark.parametrize("name", METADATA)
def test_metadata_of_the_first_message(spark, connection, broker, make_topic, name):
    topic = make_topic()
    chosen, columns, expected = METADATA[name]
    file, _ = FILES[name][0]
    produce(broker.bootstrap_servers, topic, [{"value": line.encode()} for line in lines(name, file)])

    options = {"metadata.columns": f"offset, {chosen}"}
    reader = spark.read.format("millrace").options(**connection, topic=topic, format=name, **options)
    rows = reader.schema(f"{columns}, id INT, offset BIGINT, row_kind STRING").load().collect()

    first = rows[0].asDict()
    assert {column: first[column] for column in expected} == expected
    assert (first["row_kind"], first["offset"]) == ("+I", 0)
    messages = [row.offset for row in rows]
    assert messages == sorted(messages)
    assert len(set(messages)) < len(rows)


@pytest.mark.cases
def test_the_schema_is_metadata_where_messages_include_it(spark, connection, broker, make_topic):
    topic = make_topic()
    (line, *_) = lines("debezium-json", "mysql-schema-include.txt")
    produce(broker.bootstrap_servers, topic, [{"value": line.encode()}])

    options = {**options_of("debezium-json", {"schema-include": "true"}), "metadata.columns": "value.schema AS j"}
    reader = spark.read.format("millrace").options(**connection, topic=topic, **options)
    (row,) = reader.schema("row_kind STRING, id INT, j STRING").load().collect()

    assert row.j == line[len('{"schema":') : line.index(',"payload":')]


def test_a_change_log_is_read_as_a_stream_and_written_as_one(spark, connection, broker, make_topic, tmp_path):
    source, target = make_topic(2), make_topic()
    scooter, car = PRODUCT, PRODUCT.replace("1", "2").replace("scooter", "car")
    log = [debezium("c", after=scooter), debezium("u", scooter, car), None, debezium("d", car)]
    produce(broker.bootstrap_servers, source, [{"value": value, "partition": 0} for value in log * 1_000])

    reader = spark.readStream.format("millrace").options(
        **connection,
        **{"topic": source, "format": "debezium-json", "scan.startup.mode": "earliest-offset"},
        **{"metadata.columns": "value.source.table AS origin", "scan.max-records-per-batch": "1500"},
    )
    rows = reader.schema(f"{COLUMNS}, row_kind STRING, origin STRING").load()
    query = (
        rows.where("origin = 'products'")
        .drop("origin")
        .writeStream.format("millrace")
        .options(**connection, topic=target, format="ogg-json", checkpointLocation=str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE_S)

    assert len([one for one in query.recentProgress if one.numInputRows]) == 3
    written = [message.value().decode() for message in consume(broker.bootstrap_servers, target)]
    inserted, deleted = '{{"before":null,"after":{0},"op_type":"I"}}', '{{"before":{0},"after":null,"op_type":"D"}}'
    expected = [inserted.format(scooter), deleted.format(scooter), inserted.format(car), deleted.format(car)]
    assert written == expected * 1_000


def test_a_bad_change_ends_the_read_with_its_place(spark, connection, broker, make_topic):
    topic = make_topic()
    produce(
        broker.bootstrap_servers,
        topic,
        [{"value": debezium("c", after=PRODUCT)}, {"value": debezium("u", after=PRODUCT)}],
    )

    with pytest.raises(PySparkException) as error:
        read(spark, connection, topic, "debezium-json").collect()

    assert f"malformed message in topic '{topic}', partition 0, offset 1: field before: it is null" in str(error.value)
    assert "REPLICA IDENTITY FULL" in str(error.value)
    assert "set 'debezium-json.ignore-parse-errors' to true" in str(error.value)
    lenient = read(spark, connection, topic, "debezium-json", {"ignore-parse-errors": "true"})
    assert [(row.row_kind, row.id) for row in lenient.collect()] == [("+I", 1)]


def test_a_schema_without_row_kinds_is_an_error_that_says_what_to_do(spark, connection, make_topic):
    with pytest.raises(
        AnalysisException, match=r"add row_kind STRING, as in \.schema\('row_kind STRING, id BIGINT, \.\.\.'\)"
    ):
        read(spark, connection, make_topic(), "debezium-json", schema=COLUMNS).collect()


def test_metadata_that_the_format_does_not_have_is_refused(spark, connection, make_topic):
    options = {"format": "maxwell-json", "metadata.columns": "value.source.table AS t"}
    with pytest.raises(
        PySparkException, match=r"has no metadata 'value\.source\.table'; it has value\.database, value\.table, "
    ):
        spark.read.format("millrace").options(**connection, topic=make_topic(), **options).schema(
            "t STRING"
        ).load().collect()


def test_the_column_of_row_kinds_can_be_named(spark, connection, broker, make_topic):
    topic = make_topic()
    rows = spark.sql("SELECT 7 AS row_kind, 1 AS id, '-D' AS op UNION ALL SELECT 8, 2, '+I'").coalesce(1)
    options = {"topic": topic, "format": "maxwell-json", "changelog.row-kind-column": "op"}
    rows.write.format("millrace").options(**connection, **options).mode("append").save()

    values = [message.value() for message in consume(broker.bootstrap_servers, topic)]
    assert values == [
        b'{"data":{"row_kind":7,"id":1},"type":"delete"}',
        b'{"data":{"row_kind":8,"id":2},"type":"insert"}',
    ]
    reader = spark.read.format("millrace").options(**connection, **options).schema("id INT, op STRING, row_kind INT")
    assert [tuple(row) for row in reader.load().collect()] == [(1, "-D", 7), (2, "+I", 8)]


@pytest.mark.parametrize(("kind", "shown"), [("'x'", "'x'"), ("NULL", "NULL")])
def test_an_unknown_row_kind_fails_the_write(spark, connection, broker, make_topic, kind, shown):
    topic = make_topic()
    rows = spark.sql(f"SELECT 1 AS id, '+I' AS row_kind UNION ALL SELECT 2, {kind}").coalesce(1)

    with pytest.raises(PySparkException) as error:
        rows.write.format("millrace").options(**connection, topic=topic, format="canal-json").mode("append").save()

    assert f"expected a row kind of +I, -U, +U, -D, found {shown}" in str(error.value)
    assert "column 'row_kind', row " in str(error.value)


def test_changes_are_written_exactly_once_too(spark, connection, broker, make_topic):
    topic = make_topic()
    rows = spark.range(100).select(col("id"), (col("id") % 2 == 0).cast("string").alias("even"))
    rows = rows.selectExpr("id", "CASE even WHEN 'true' THEN '-D' ELSE '+U' END AS row_kind")
    options = {
        "topic": topic,
        "format": "debezium-json",
        "sink.delivery-guarantee": "exactly-once",
        "sink.transactional-id-prefix": topic,
    }
    rows.write.format("millrace").options(**connection, **options).mode("append").save()

    messages = consume(broker.bootstrap_servers, topic)
    assert len(messages) == 100
    assert sum(b'"op":"d"' in message.value() for message in messages) == 50
