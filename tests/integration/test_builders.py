"""Sources and sinks that are built step by step, on the real broker."""

from __future__ import annotations

import json

import pytest

import millrace
from millrace import (
    DeliveryGuarantee,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    ProducerRecord,
)
from millrace.errors import OptionsError
from support.kafka import consume, produce


@pytest.fixture
def source(broker):
    """A builder of a source that knows the broker."""
    return lambda *topics: KafkaSource.builder().set_bootstrap_servers(broker.bootstrap_servers).set_topics(*topics)


@pytest.fixture
def sink(broker):
    """A builder of a sink that knows the broker."""
    guarantee = DeliveryGuarantee.AT_LEAST_ONCE
    servers = broker.bootstrap_servers
    return lambda schema: (
        KafkaSink.builder()
        .set_kafka_producer_config({"bootstrap.servers": servers, "linger.ms": 1})
        .set_delivery_guarantee(guarantee)
        .set_record_serializer(schema.build())
    )


def json_to(topic: str):
    return KafkaRecordSerializationSchema.builder().set_topic(topic).set_value_serialization_schema("json")


def test_a_batch_that_is_written_is_read_up_to_its_bounds(spark, source, sink, make_topic):
    topic = make_topic(2)
    sink(json_to(topic).set_partitioner("round-robin")).build().write(
        spark.range(10).coalesce(1).selectExpr("id", "concat('n', id) AS name")
    )
    bounds = KafkaOffsetsInitializer.offsets({(topic, 0): 3, (topic, 1): "latest"})

    built = source(topic).set_bounded(bounds).set_deserializer("json").set_option("metadata.columns", "partition")
    rows = built.build().load(spark, "id BIGINT, name STRING, partition INT")

    assert not rows.isStreaming
    found = [tuple(row) for row in rows.collect()]
    assert all(name == f"n{number}" for number, name, _ in found)
    assert sorted(partition for _, _, partition in found) == [0, 0, 0, 1, 1, 1, 1, 1]


def test_a_stream_goes_from_topic_to_topic_and_stops_where_told(spark, broker, source, sink, make_topic, tmp_path):
    first, second = make_topic(), make_topic()
    produce(broker.bootstrap_servers, first, [{"key": b"k", "value": str(n).encode()} for n in range(100)])
    built = source(first).set_unbounded(KafkaOffsetsInitializer.offsets({(first, 0): 60}))
    rows = built.build().load(spark, "key BINARY, value BINARY")
    target = sink(KafkaRecordSerializationSchema.builder().set_topic(second)).build()

    assert rows.isStreaming
    query = target.start(
        rows, checkpoint_location=tmp_path, trigger={"processingTime": "10 milliseconds"}, query_name="built"
    )
    try:
        assert query.name == "built"
        assert millrace.await_end(query, 60)
    finally:
        query.stop()

    messages = consume(broker.bootstrap_servers, second)
    assert [(message.key(), int(message.value())) for message in messages] == [(b"k", n) for n in range(60)]


@pytest.mark.parametrize("format_name", [None, "json"])
def test_columns_choose_topics_and_headers(spark, broker, sink, make_topic, format_name):
    topics = [make_topic(), make_topic()]
    rows = spark.createDataFrame(
        [(topics[n % 2], {"n": bytes([n])}, str(n)) for n in range(4)],
        "target STRING, notes MAP<STRING, BINARY>, value STRING",
    )
    schema = KafkaRecordSerializationSchema.builder().set_topic_selector("target").set_header_provider("notes")
    if format_name:
        schema.set_value_serialization_schema(format_name)

    sink(schema).build().write(rows)

    for index, topic in enumerate(topics):
        messages = consume(broker.bootstrap_servers, topic)
        values = {message.value(): message.headers() for message in messages}
        texts = {n: json.dumps({"value": str(n)}, separators=(",", ":")) if format_name else str(n) for n in range(4)}
        assert values == {texts[n].encode(): [("n", bytes([n]))] for n in range(4) if n % 2 == index}


def test_the_options_of_a_source_are_those_of_a_reader(spark, broker, source, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
    built = source(topic).set_bounded(KafkaOffsetsInitializer.latest()).build()

    rows = spark.read.format("millrace").options(**built.options).load()

    assert rows.collect() == built.load(spark).collect()
    assert rows.count() == 1


@pytest.mark.parametrize("format_name", [None, "json"])
def test_parallel_tasks_keep_the_order_of_each_key(spark, broker, sink, make_topic, format_name):
    topic = make_topic(3)
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic).set_partitioner("fixed")
    key = "key"
    if format_name:
        schema.set_value_serialization_schema(format_name)
        key = "of_record"
    builder = sink(schema).set_parallelism(3)
    if format_name:
        builder.set_option("metadata.columns", f"__raw_key__ AS {key}")
    rows = spark.range(300, numPartitions=1).selectExpr(f"STRING(id % 10) AS {key}", "STRING(id) AS value")
    builder.build().write(rows)

    seen = {}
    for message in consume(broker.bootstrap_servers, topic):
        value = json.loads(message.value())
        number = int(value["value"] if format_name else value)
        seen.setdefault(message.key(), []).append((message.partition(), number))
    assert len(seen) == 10
    for key_bytes, found in seen.items():
        assert len({partition for partition, _ in found}) == 1
        assert [number for _, number in found] == list(range(int(key_bytes), 300, 10))
    assert len({found[0][0] for found in seen.values()}) > 1


def test_two_running_queries_of_a_program_have_no_prefix_in_common(spark, source, broker, make_topic, tmp_path):
    first, second = make_topic(), make_topic()
    rows = source(first).build().load(spark, "value BINARY")

    def once(prefix: str) -> KafkaSink:
        builder = KafkaSink.builder().set_bootstrap_servers(broker.bootstrap_servers)
        builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix(prefix)
        return builder.set_record_serializer(KafkaRecordSerializationSchema.builder().set_topic(second).build()).build()

    shared = once(f"shared-{second}")
    query = shared.start(rows, checkpoint_location=tmp_path / "one")
    try:
        with pytest.raises(
            OptionsError, match=f"query {query.id} of this program writes with 'shared-{second}' already"
        ):
            once(f"shared-{second}").start(rows, checkpoint_location=tmp_path / "two")
        with pytest.raises(OptionsError, match="give each query a prefix of its own"):
            shared.write(spark.range(1).selectExpr("string(id) AS value"))
        once(f"other-{second}").write(spark.range(1).selectExpr("string(id) AS value"))
    finally:
        query.stop()
    shared.write(spark.range(1).selectExpr("string(id) AS value"))
    assert [message.value() for message in consume(broker.bootstrap_servers, second)] == [b"0", b"0"]


def test_a_function_selects_topics(spark, broker, sink, make_topic):
    topics = [make_topic(1), make_topic(1)]
    schema = KafkaRecordSerializationSchema.builder().set_value_serialization_schema("json")

    sink(schema.set_topic_selector(lambda row: topics[row.id % 2])).build().write(spark.range(3).coalesce(1))

    assert [message.value() for message in consume(broker.bootstrap_servers, topics[0])] == [b'{"id":0}', b'{"id":2}']
    assert [message.value() for message in consume(broker.bootstrap_servers, topics[1])] == [b'{"id":1}']


def test_a_function_makes_whole_records(spark, broker, make_topic):
    topic = make_topic(2)

    def serialize(row):
        if row.id == 1:
            return None
        return ProducerRecord(
            value=f"row {row.id}", key=b"k", topic=topic, partition=1, timestamp=1_000, headers=[("a", b"1")]
        )

    builder = KafkaSink.builder().set_bootstrap_servers(broker.bootstrap_servers)
    builder.set_record_serializer(KafkaRecordSerializationSchema.of(serialize)).build().write(spark.range(2))

    (message,) = consume(broker.bootstrap_servers, topic)
    assert (message.value(), message.key(), message.partition()) == (b"row 0", b"k", 1)
    assert (message.timestamp()[1], message.headers()) == (1_000, [("a", b"1")])
