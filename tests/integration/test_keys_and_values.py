"""Formats of keys beside those of values, through Spark to the real broker and back."""

from __future__ import annotations

import json

import pytest
from pyspark.errors import PySparkException

from support.java_client import java_client
from support.kafka import consume, produce

BEHAVIOR = "user_id BIGINT, item_id BIGINT, behavior STRING"
VERSIONS = "k_version INT, k_user_id BIGINT, version INT, behavior STRING"
EXCEPT_KEY = {"value.fields-include": "EXCEPT_KEY"}


@pytest.fixture
def table(connection, make_topic):
    """The options of a topic with formats of keys and values."""

    def make(fields, partitions=1, **options):
        both = {"key.format": "json", "value.format": "json", "key.fields": fields}
        return {**connection, "topic": make_topic(partitions), **both, **options}

    return make


def write(rows, options):
    rows.write.format("millrace").options(**options).mode("append").save()


def read(spark, schema, options):
    return spark.read.format("millrace").schema(schema).options(**options).load()


def records(broker, topic):
    return [(message.key(), message.value()) for message in consume(broker.bootstrap_servers, topic)]


def test_the_columns_of_the_key_are_part_of_the_value_too(spark, broker, table):
    options = table("user_id;item_id")
    rows = spark.createDataFrame([(1, 10, "buy"), (2, None, "cart"), (None, None, None)], BEHAVIOR).coalesce(1)

    write(rows, options)

    assert records(broker, options["topic"]) == [
        (b'{"user_id":1,"item_id":10}', b'{"user_id":1,"item_id":10,"behavior":"buy"}'),
        (b'{"user_id":2,"item_id":null}', b'{"user_id":2,"item_id":null,"behavior":"cart"}'),
        (b'{"user_id":null,"item_id":null}', b'{"user_id":null,"item_id":null,"behavior":null}'),
    ]
    assert read(spark, BEHAVIOR, options).collect() == rows.collect()


def test_fields_of_the_same_name_in_key_and_value(spark, broker, table):
    options = table("k_version;k_user_id", **{"key.fields-prefix": "k_"}, **EXCEPT_KEY)
    rows = spark.createDataFrame([(1, 7, 2, "buy")], VERSIONS)

    write(rows, options)

    assert records(broker, options["topic"]) == [(b'{"version":1,"user_id":7}', b'{"version":2,"behavior":"buy"}')]
    assert read(spark, VERSIONS, options).collect() == rows.collect()


def test_both_may_have_prefixes(spark, broker, table):
    prefixes = {"key.fields-prefix": "key_", "value.fields-prefix": "val_"}
    options = table("key_id", **prefixes, **EXCEPT_KEY)
    rows = spark.createDataFrame([(1, "a")], "key_id INT, val_name STRING")

    write(rows, options)

    assert records(broker, options["topic"]) == [(b'{"id":1}', b'{"name":"a"}')]
    assert read(spark, "val_name STRING, key_id INT", options).collect() == [("a", 1)]


def test_key_and_value_have_formats_and_options_of_their_own(spark, broker, table):
    own = {"key.format": "csv", "key.csv.field-delimiter": "|", "json.encode.ignore-null-fields": "true"}
    options = table("item_id;user_id", **own, **EXCEPT_KEY)
    rows = spark.createDataFrame([(1, 10, None)], BEHAVIOR)

    write(rows, options)

    assert records(broker, options["topic"]) == [(b"10|1", b"{}")]
    assert read(spark, BEHAVIOR, options).collect() == rows.collect()


def test_records_go_where_their_encoded_keys_belong(spark, broker, table):
    options = table("user_id", partitions=4)
    write(spark.range(200).selectExpr("id % 50 AS user_id", "id AS item_id").repartition(3), options)

    places = {}
    for message in consume(broker.bootstrap_servers, options["topic"]):
        places.setdefault(message.key(), set()).add(message.partition())
    assert len(places) == 50
    with java_client(spark, broker.bootstrap_servers) as java:
        assert places == {key: {java.partition_of(key, 4)} for key in places}


def test_a_stream_reads_keys_and_values(spark, table, tmp_path):
    options = table("user_id", **EXCEPT_KEY)
    rows = [{"key": json.dumps({"user_id": n}).encode(), "value": b'{"behavior":"buy"}'} for n in range(100)]
    produce(
        options["properties.bootstrap.servers"], options["topic"], [*rows, {"key": b'{"user_id":7}', "value": None}]
    )
    stream = spark.readStream.format("millrace").schema("user_id BIGINT, behavior STRING").options(**options)
    query = (
        stream.option("scan.startup.mode", "earliest-offset")
        .load()
        .writeStream.format("memory")
        .queryName("keys_and_values")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )

    query.awaitTermination()

    assert sorted(spark.table("keys_and_values").collect()) == [(n, "buy") for n in range(100)]


def test_messages_without_a_key_are_read_with_null(spark, connection, table):
    options = table("user_id", **EXCEPT_KEY)
    produce(options["properties.bootstrap.servers"], options["topic"], [{"value": b'{"behavior":"buy"}'}])
    assert read(spark, "user_id BIGINT, behavior STRING", options).collect() == [(None, "buy")]


@pytest.mark.nightly
def test_a_malformed_key_is_told_with_its_place(spark, table):
    options = table("user_id")
    produce(options["properties.bootstrap.servers"], options["topic"], [{"key": b"{oops", "value": b"{}"}])

    with pytest.raises(PySparkException) as caught:
        read(spark, BEHAVIOR, options).collect()

    text = str(caught.value)
    assert f"malformed key in topic '{options['topic']}', partition 0, offset 0: " in text
    assert "To let such messages pass, set 'key.json.ignore-parse-errors' to true" in text


@pytest.mark.parametrize("changes", ["debezium-json", "canal-json"])
def test_a_key_in_a_format_of_changes_is_refused_with_the_format_that_works(spark, broker, table, changes):
    rows = spark.createDataFrame([("+I", 1, "pv"), ("-D", 2, "buy")], "row_kind STRING, id INT, behavior STRING")
    options = table("id", **{"value.format": changes, "key.format": changes})
    with pytest.raises(PySparkException) as caught:
        write(rows, options)
    assert f"option 'key.format': '{changes}' is a changelog format, which keys cannot have" in str(caught.value)
    assert "since a key does not change: use 'json'" in str(caught.value)

    options["key.format"] = "json"
    write(rows, options)

    assert {key for key, _ in records(broker, options["topic"])} == {b'{"id":1}', b'{"id":2}'}
    schema = "row_kind STRING, id INT, behavior STRING"
    found = read(spark, schema, options).collect()
    assert sorted(map(tuple, found)) == [("+I", 1, "pv"), ("-D", 2, "buy")]


def test_options_that_do_not_fit_are_refused_before_a_job_starts(spark, table):
    options = table("user_id", **{"key.fields-prefix": "k_"})
    with pytest.raises(PySparkException) as caught:
        read(spark, BEHAVIOR, options).collect()
    text = str(caught.value)
    assert "option 'key.fields-prefix' requires 'value.fields-include' = 'EXCEPT_KEY'" in text
    assert "option 'key.fields': 'user_id' does not begin with 'k_' ('key.fields-prefix')" in text
