"""Error messages as a user reads them, each through Spark and the real broker.

Those that the driver finds without a broker are in ``tests/unit/core/spark``, too, and come here at night.
"""

from __future__ import annotations

import re
import socket
import sys

import pytest
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException

from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace_broker import KafkaBroker, Listener
from millrace_broker.listeners import free_ports
from support import worker_plugins
from support.kafka import produce
from support.waiting import PATIENCE_S, sooner_than


def load(spark, options, schema=None, *, stream=False):
    reader = (spark.readStream if stream else spark.read).format("millrace").options(**options)
    return (reader.schema(schema) if schema else reader).load()


def message_of(action) -> str:
    """The text of the error that an action on the driver ends with, checked to be free of stacks."""
    with pytest.raises(AnalysisException) as raised:
        action()
    text = str(raised.value)
    assert "Traceback" not in text
    assert not re.search(r"^\s*at org\.apache", text, re.MULTILINE)
    return text


def test_unreachable_servers_are_told_soon(spark):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    rows = load(spark, {"properties.bootstrap.servers": address, "topic": "orders"})

    with sooner_than(RETRY_TIMEOUT_S, "the retries of a minute"):
        text = message_of(rows.count)

    assert f"s at {address} (option 'properties.bootstrap.servers')" in text
    assert "Connection refused" in text


def test_an_unknown_topic_is_told_with_the_closest_one(spark, connection, make_topic):
    topic = make_topic()

    text = message_of(lambda: load(spark, {**connection, "topic": f"{topic}x"}).count())

    assert f"no topic '{topic}x' at" in text
    assert f"Did you mean '{topic}'?" in text


def test_writing_to_an_unknown_topic_is_refused_before_a_task_starts(spark, connection):
    rows = spark.range(1).selectExpr("'v' AS value")

    text = message_of(
        lambda: rows.write.format("millrace").options(**connection, topic="nowhere").mode("append").save()
    )

    assert "no topic 'nowhere' at" in text


@pytest.mark.nightly
def test_a_misspelled_option_is_told_with_the_right_one(spark, connection):
    text = message_of(lambda: load(spark, {**connection, "topik": "orders"}))

    assert "unknown option 'topik'; did you mean 'topic'?" in text


def test_what_is_wrong_with_a_stream_is_told(spark, connection, tmp_path):
    rows = load(spark, connection | {"topic": "orders"}, "value BINARY", stream=True)
    good = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
    good.stop()
    for options, schema, told in [
        ({"topic": "orders"}, "id INT", "column 'id'"),
        ({"topic": "orders", "scan.startup.mode": "support.nowhere:Initializer"}, "value BINARY", "support.nowhere"),
    ]:
        rows = load(spark, connection | options, schema, stream=True)
        query = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()

        with pytest.raises(StreamingQueryException) as raised:
            query.awaitTermination(PATIENCE_S)

        assert told in str(raised.value)
        assert "cannot access local variable" not in str(raised.value)


def test_addresses_that_brokers_tell_and_that_cannot_be_reached_are_told(spark):
    open_port, told_port = free_ports(2)
    # Bound and not listening: nobody answers there, and no other test's broker can take it
    unused = socket.socket()
    unused.bind(("127.0.0.1", 0))
    unused_port = unused.getsockname()[1]
    listeners = [Listener("OPEN", port=open_port), Listener("ELSEWHERE", port=told_port)]
    told = {"advertised.listeners": f"OPEN://127.0.0.1:{open_port},ELSEWHERE://127.0.0.1:{unused_port}"}
    with unused, KafkaBroker(listeners=listeners, properties=told) as broker:
        broker.create_topic("orders")
        options = {"properties.bootstrap.servers": broker.address("ELSEWHERE"), "topic": "orders"}
        write = spark.range(1).selectExpr("'v' AS value").write.format("millrace").options(**options).mode("append")
        for action in (load(spark, options).count, write.save):
            text = message_of(action)

            assert f"127.0.0.1:{told_port} (option 'properties.bootstrap.servers') answers" in text
            assert f"advertises 127.0.0.1:{unused_port} (advertised.listeners)" in text
            assert "Connection refused" in text
            assert "let the administrator set 'advertised.listeners'" in text


def test_all_wrong_options_are_told_at_once(spark, connection):
    options = {
        "topic": "orders",
        "format": "jsno",
        "scan.startup.mode": "earliest",
        "scan.max-records-per-batch": "many",
        "sink.delivery-guarantee": "at-most-once",
    }

    text = message_of(lambda: load(spark, {**connection, **options}))

    assert "wrong millrace options, 4 problems:" in text
    assert "option 'value.format': unknown format 'jsno'; installed: avro, avro-confluent, canal-json, csv, " in text
    assert ", raw. Did you mean 'json'?" in text
    assert "option 'scan.startup.mode': unknown offset initializer 'earliest'" in text
    assert "option 'scan.max-records-per-batch': expected a whole number; got 'many'" in text
    assert (
        "option 'sink.delivery-guarantee': expected one of none, at-least-once, exactly-once "
        "(did you mean 'at-least-once'?)" in text
    )


@pytest.mark.nightly
def test_options_that_exclude_each_other_are_refused(spark, connection):
    exclusive = {"format": "json", "json.fail-on-missing-field": "true", "json.ignore-parse-errors": "true"}

    text = message_of(lambda: load(spark, {**connection, "topic": "orders", **exclusive}, "id INT").count())

    assert "fail-on-missing-field" in text
    assert "ignore-parse-errors" in text


@pytest.mark.nightly
def test_a_missing_address_is_told(spark):
    text = message_of(lambda: load(spark, {"topic": "orders"}))

    assert "option 'properties.bootstrap.servers' is required, such as 'localhost:9092'" in text


@pytest.mark.nightly
def test_exactly_once_without_a_prefix_is_refused(spark, connection):
    text = message_of(lambda: load(spark, {**connection, "topic": "orders", "sink.delivery-guarantee": "exactly-once"}))

    assert "option 'sink.transactional-id-prefix' is required with 'sink.delivery-guarantee' = 'exactly-once'" in text


@pytest.mark.nightly
def test_a_prefix_without_exactly_once_is_refused(spark, connection):
    text = message_of(lambda: load(spark, {**connection, "topic": "orders", "sink.transactional-id-prefix": "p"}))

    assert "option 'sink.transactional-id-prefix' requires 'sink.delivery-guarantee' = 'exactly-once'" in text


@pytest.mark.nightly
def test_a_mode_without_its_option_names_it(spark, connection):
    text = message_of(lambda: load(spark, {**connection, "topic": "orders", "scan.startup.mode": "timestamp"}))

    assert "options 'scan.startup.*': give timestamp or timestamp-millis" in text


def test_a_group_that_has_read_nothing_yet_is_told_what_to_set(spark, connection, make_topic):
    options = {**connection, "topic": make_topic(), "properties.group.id": "never-seen"}

    text = message_of(lambda: load(spark, options).count())

    assert "startup mode 'group-offsets' has no offset" in text
    assert "'properties.auto.offset.reset'" in text


@pytest.mark.nightly
def test_a_wrong_client_property_is_told(spark, connection, make_topic):
    options = {**connection, "topic": make_topic(), "properties.fetch.min.bites": "1"}

    text = message_of(lambda: load(spark, options).count())

    assert "it has no property" in text
    assert "fetch.min.bites" in text


@pytest.mark.nightly
def test_a_typed_format_without_columns_says_how_to_give_them(spark, connection):
    text = message_of(lambda: load(spark, {**connection, "topic": "orders", "format": "csv"}))

    assert "format 'csv' needs to know the columns: give them with .schema(" in text


@pytest.mark.nightly
def test_a_column_type_that_a_format_cannot_carry_is_named(spark, connection, make_topic):
    options = {**connection, "topic": make_topic(), "format": "json"}

    text = message_of(lambda: load(spark, options, "id INT, took INTERVAL DAY TO SECOND").count())

    assert "took" in text


def test_a_malformed_message_is_told_with_its_place_and_its_beginning(spark, connection, broker, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b'{"id": 1}'}, {"value": b'{"id": 2'}, {"value": b'{"id": 3}'}])

    with pytest.raises(PySparkException) as raised:
        load(spark, {**connection, "topic": topic, "format": "json"}, "id INT").collect()

    text = str(raised.value)
    assert f"malformed message in topic '{topic}', partition 0, offset 1:" in text
    assert "It begins with '{\"id\": 2'. To let such messages pass, set 'json.ignore-parse-errors' to true; " in text
    assert "to skip and count them, set 'ingestion.ignore-errors' to true" in text


@pytest.mark.nightly
def test_a_wrong_header_filter_shows_where(spark, connection):
    text = message_of(lambda: load(spark, {**connection, "topic": "orders", "scan.header-filter": "env:test|"}))

    assert "option 'scan.header-filter'" in text
    assert "^" in text


@pytest.mark.nightly
def test_secrets_are_not_shown(spark, connection):
    secret = {"properties.sasl.password": "hunter2", "properties.sasl.jaas.config": "password='hunter2'", "topik": "x"}

    assert "hunter2" not in message_of(lambda: load(spark, {**connection, **secret}))


@pytest.mark.nightly
def test_a_partition_out_of_range_names_the_partitioner(spark, connection, make_topic):
    rows = spark.range(1).selectExpr("CAST(5 AS INT) AS partition", "'v' AS value")

    with pytest.raises(PySparkException) as raised:
        rows.write.format("millrace").options(**connection, topic=make_topic(2)).mode("append").save()

    assert "column 'partition' gave partition 5 of topic" in str(raised.value)


@pytest.mark.nightly
def test_overwriting_a_topic_is_refused(spark, connection, make_topic):
    rows = spark.range(1).selectExpr("'v' AS value")

    text = message_of(
        lambda: rows.write.format("millrace").options(**connection, topic=make_topic()).mode("overwrite").save()
    )

    assert "a topic cannot be overwritten" in text


@pytest.mark.parametrize(
    ("metadata", "columns", "reason"),
    [
        ({}, "row_kind STRING, id INT", "format driver-only does not support column id"),
        pytest.param(
            {"metadata.columns": "value.origin AS o"},
            "row_kind STRING, id INT, o STRING",
            "names 'value.origin', which the format does not have; its metadata: none",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_schema_and_metadata_errors_of_an_executor_name_its_host_and_interpreter(
    spark, connection, broker, make_topic, metadata, columns, reason
):
    spark.sparkContext.addPyFile(worker_plugins.__file__)
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"x"}])
    options = {**connection, "topic": topic, "format": "worker_plugins:DriverOnly", **metadata}

    with pytest.raises(PySparkException) as raised:
        load(spark, options, columns).collect()

    assert reason in str(raised.value)
    assert f". Raised on host {socket.gethostname()} by {sys.executable}" in str(raised.value)
    assert "Traceback" not in str(raised.value)


@pytest.mark.nightly
def test_schema_errors_of_an_executor_that_writes_name_its_host_and_interpreter(spark, connection, make_topic):
    spark.sparkContext.addPyFile(worker_plugins.__file__)
    rows = spark.range(1)
    options = {**connection, "topic": make_topic(), "format": "worker_plugins:DriverOnly"}

    with pytest.raises(PySparkException) as raised:
        rows.write.format("millrace").options(**options).mode("append").save()

    assert "format driver-only does not support column id. Raised on host " in str(raised.value)
    assert sys.executable in str(raised.value)
