"""The Avro formats through Spark, on the real broker and a real schema registry."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pytest
from pyspark.errors import PySparkException

from support.kafka import consume, produce
from support.tiers import nightly_but
from support.waiting import PATIENCE_S
from unit.formats.avro.datums import decoded, encoded

COLUMNS = (
    "id BIGINT NOT NULL, name STRING, price DECIMAL(10,2), day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, "
    "tags ARRAY<STRING>, counts MAP<STRING, INT>, address STRUCT<street: STRING, zip: INT>, data BINARY, rate FLOAT"
)
ROWS = [
    (
        1,
        "ü😀",
        Decimal("12.50"),
        dt.date(2024, 5, 1),
        dt.datetime(2024, 5, 1, 12, 0, 0, 250_000),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_000),
        ["a", None],
        {"x": 1, "y": None},
        ("Main", 12345),
        b"\x00\xff",
        0.5,
    ),
    (2, *[None] * 10),
]


@pytest.fixture
def save(connection, make_topic):
    def write(rows, topic=None, **options):
        topic = topic or make_topic()
        given = {name.replace("__", "."): value for name, value in options.items()}
        rows.write.format("millrace").options(**connection, topic=topic, **given).mode("append").save()
        return topic

    return write


@pytest.fixture
def load(spark, connection):
    def read(topic, schema, **options):
        given = {name.replace("__", "."): value for name, value in options.items()}
        return spark.read.format("millrace").options(**connection, topic=topic, **given).schema(schema).load()

    return read


@pytest.mark.parametrize(
    "options", nightly_but([{}, {"avro__encoding": "json"}, {"avro__timestamp_mapping.legacy": "false"}], {})
)
def test_rows_are_read_as_they_were_written(spark, save, load, options):
    rows = spark.createDataFrame(ROWS, COLUMNS)

    topic = save(rows, format="avro", **options)

    found = load(topic, COLUMNS, format="avro", **options).orderBy("id").collect()
    assert found == rows.orderBy("id").collect()


@pytest.mark.nightly
def test_avro_confluent_reads_what_it_writes(spark, save, load, registry):
    options = {"format": "avro-confluent", "avro-confluent__url": registry.url}
    # This registry gives a schema two versions when two tasks register it at the same time
    rows = spark.createDataFrame(ROWS, COLUMNS).coalesce(1)

    topic = save(rows, **options)

    assert load(topic, COLUMNS, **options).orderBy("id").collect() == rows.orderBy("id").collect()
    (schema,) = registry.schemas(f"{topic}-value")
    assert [field["name"] for field in schema["fields"]] == rows.columns


def order(*fields):
    return {"type": "record", "name": "Order", "namespace": "shop", "fields": list(fields)}


VERSIONS = [
    order({"name": "id", "type": "int"}, {"name": "customer", "type": "string"}, {"name": "old", "type": "bytes"}),
    order({"name": "id", "type": "long"}, {"name": "customer", "type": ["null", "string"], "default": None}),
    order(
        {"name": "status", "type": {"type": "enum", "name": "S", "symbols": ["NEW", "PAID"]}, "default": "NEW"},
        {"name": "id", "type": "long"},
        {"name": "client", "type": ["null", "string"], "default": None, "aliases": ["customer"]},
    ),
]
VALUES = [
    lambda n: {"id": n, "customer": f"c{n}", "old": b"x"},
    lambda n: {"id": n + 2**40, "customer": None if n % 2 else f"c{n}"},
    lambda n: {"status": "PAID", "id": n, "client": f"c{n}"},
]


@pytest.mark.nightly
def test_schemas_evolve_over_three_versions(broker, registry, make_topic, load):
    topic = make_topic(2)
    records = []
    for schema, value in zip(VERSIONS, VALUES, strict=True):
        head = b"\0" + registry.register(f"{topic}-value", schema).to_bytes(4, "big")
        records += [{"value": head + encoded(schema, value(n)), "partition": n % 2} for n in range(3_000)]
    produce(broker.bootstrap_servers, topic, records)
    options = {"format": "avro-confluent", "avro-confluent__url": registry.url}

    by_name = load(topic, "id BIGINT, customer STRING, status STRING, client STRING", **options)
    by_schema = load(
        topic, "client STRING, status STRING", **options, **{"avro-confluent__schema": json.dumps(VERSIONS[2])}
    )

    expected = {
        *((n, f"c{n}", None, None) for n in range(3_000)),
        *((n + 2**40, None if n % 2 else f"c{n}", None, None) for n in range(3_000)),
        *((n, None, "PAID", f"c{n}") for n in range(3_000)),
    }
    assert {tuple(row) for row in by_name.collect()} == expected
    counted = {(row.status, row["count"]) for row in by_schema.groupBy("status").count().collect()}
    assert counted == {("NEW", 6_000), ("PAID", 3_000)}
    assert by_schema.where("client IS NULL").count() == 1_500
    assert by_schema.where("client = 'c2998'").count() == 3


@pytest.mark.nightly
def test_each_topic_has_a_subject_of_its_own(spark, connection, broker, registry, make_topic):
    topics = [make_topic(), make_topic()]
    rows = spark.range(100).selectExpr(
        "id", f"element_at(array('{topics[0]}', '{topics[1]}'), int(id % 2) + 1) AS target"
    )
    options = {
        **connection,
        "topic": ";".join(topics),
        "format": "avro-confluent",
        "avro-confluent.url": registry.url,
        "metadata.columns": "topic AS target",
    }
    registry.register(f"{topics[0]}-value", order({"name": "other", "type": "int"}))

    rows.coalesce(1).write.format("millrace").options(**options).mode("append").save()

    for index, topic in enumerate(topics):
        schema = registry.schemas(f"{topic}-value")[-1]
        values = [message.value() for message in consume(broker.bootstrap_servers, topic)]
        assert [decoded(schema, value[5:])["id"] for value in values] == list(range(index, 100, 2))
        assert len({value[:5] for value in values}) == 1
        spark_read = (
            spark.read.format("millrace").options(**options | {"topic": topic}).option("metadata.columns", "topic")
        )
        assert spark_read.schema("id BIGINT, topic STRING").load().distinct().count() == 50


@pytest.mark.nightly
def test_an_incompatible_schema_fails_the_write_in_the_registrys_words(spark, save, registry, make_topic):
    topic = make_topic()
    registry.register(f"{topic}-value", order({"name": "id", "type": "string"}) | {"name": "record"})
    registry.keep_compatible(f"{topic}-value")

    with pytest.raises(PySparkException) as caught:
        save(spark.range(1), topic, format="avro-confluent", **{"avro-confluent__url": registry.url})

    assert f"does not accept the schema of the rows for subject '{topic}-value'" in str(caught.value)
    assert "reader type: LONG not compatible with writer type: STRING at /fields/0/type" in str(caught.value)


@pytest.mark.nightly
def test_an_unknown_schema_is_told_with_its_place(broker, registry, make_topic, load):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"\0\x7f\xff\xff\xffx"}])

    with pytest.raises(PySparkException) as caught:
        load(topic, "id INT", format="avro-confluent", **{"avro-confluent__url": registry.url}).collect()

    assert f"malformed message in topic '{topic}', partition 0, offset 0: schema 2147483647 is not in the" in str(
        caught.value
    )


@pytest.mark.nightly
def test_a_registry_that_cannot_be_reached_is_told_without_its_login(spark, save, broker, make_topic, load):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"\0\0\0\0\1x"}])
    options = {
        "format": "avro-confluent",
        "avro-confluent__url": "http://ann:hush@127.0.0.1:1",
        "avro-confluent__properties.max.retries": "0",
    }
    for run in (
        lambda: load(topic, "id INT", **options).collect(),
        lambda: save(spark.range(1), topic, **options),
    ):
        with pytest.raises(PySparkException) as caught:
            run()
        assert "the schema registry at http://127.0.0.1:1 (option 'avro-confluent.url') cannot be reached" in str(
            caught.value
        )
        assert "hush" not in str(caught.value)


def test_problems_of_options_and_columns_show_before_a_job_starts(spark, save, load):
    with pytest.raises(PySparkException, match=r"option 'avro-confluent\.url' is required"):
        load("orders", "id INT", format="avro-confluent").collect()
    with pytest.raises(PySparkException, match="column a b has a name that is not valid in Avro"):
        save(spark.range(1).selectExpr("id AS `a b`"), format="avro")


@pytest.mark.nightly
def test_a_stream_of_changes_is_read_and_written(spark, connection, broker, registry, make_topic, tmp_path):
    source, target = make_topic(), make_topic()
    row = {"type": "record", "name": "Value", "fields": [
        {"name": "id", "type": "int"}, {"name": "weight", "type": ["null", "double"], "default": None},
    ]}  # fmt: skip
    schema = {"type": "record", "name": "Envelope", "fields": [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
        {"name": "source", "type": {
            "type": "record", "name": "Source", "fields": [{"name": "table", "type": "string"}],
        }},
    ]}  # fmt: skip
    head = b"\0" + registry.register(f"{source}-value", schema).to_bytes(4, "big")
    old, new = {"id": 1, "weight": 1.5}, {"id": 1, "weight": None}
    more = {"ts_ms": 1_714_566_615_250, "source": {"table": "products"}}
    changes = [(None, old, "c"), (old, new, "u"), (new, None, "d")]
    values = [head + encoded(schema, {"before": b, "after": a, "op": op, **more}) for b, a, op in changes]
    produce(broker.bootstrap_servers, source, [{"value": value} for value in [*values, None]])
    options = {**connection, "format": "debezium-avro-confluent", "debezium-avro-confluent.url": registry.url}

    read = (
        spark.readStream.format("millrace")
        .options(**options, topic=source)
        .option("scan.startup.mode", "earliest-offset")
        .option("metadata.columns", "value.source.table AS name, value.ingestion-timestamp AS told, offset")
        .schema("row_kind STRING, id BIGINT, weight DOUBLE, name STRING, told TIMESTAMP, offset BIGINT")
        .load()
    )
    query = (
        read.select("row_kind", "id", "weight")
        .writeStream.format("millrace")
        .options(**options, topic=target, checkpointLocation=str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(PATIENCE_S)
    assert query.exception() is None

    batch = spark.read.format("millrace").options(**options)
    written = batch.option("topic", target).schema("row_kind STRING, id BIGINT, weight DOUBLE").load().collect()
    assert [tuple(row) for row in written] == [
        ("+I", 1, 1.5), ("-D", 1, 1.5), ("+I", 1, None), ("-D", 1, None),
    ]  # fmt: skip
    told = (
        batch.option("topic", source)
        .option("metadata.columns", "value.source.table AS name, value.ingestion-timestamp AS told, offset")
        .schema("row_kind STRING, id BIGINT, name STRING, told TIMESTAMP, offset BIGINT")
        .load()
        .orderBy("offset", "row_kind")
        .collect()
    )
    assert [(row.row_kind, row.id, row.name, row.offset) for row in told] == [
        ("+I", 1, "products", 0), ("+U", 1, "products", 1), ("-U", 1, "products", 1), ("-D", 1, "products", 2),
    ]  # fmt: skip
    assert {row.told for row in told} == {dt.datetime(2024, 5, 1, 12, 30, 15, 250_000)}
