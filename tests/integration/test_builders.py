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
    KafkaTopicSelector,
    ProducerRecord,
    SimpleStringSchema,
)
from millrace.errors import OptionsError
from millrace.streams import SOURCE_EVOLUTION
from support.admin import add_partitions
from support.kafka import consume, produce
from support.tiers import nightly_but
from support.waiting import PATIENCE_S, wait_until


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
        assert millrace.await_end(query, PATIENCE_S)
    finally:
        query.stop()

    messages = consume(broker.bootstrap_servers, second)
    assert [(message.key(), int(message.value())) for message in messages] == [(b"k", n) for n in range(60)]


@pytest.mark.parametrize("format_name", nightly_but([None, "json"], "json"))
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


@pytest.mark.nightly
def test_the_options_of_a_source_are_those_of_a_reader(spark, broker, source, make_topic):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}])
    built = source(topic).set_bounded(KafkaOffsetsInitializer.latest()).build()

    rows = spark.read.format("millrace").options(**built.options).load()

    assert rows.collect() == built.load(spark).collect()
    assert rows.count() == 1


@pytest.mark.parametrize("format_name", nightly_but([None, "json"], "json"))
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


def test_the_references_programs_copy_texts(spark, broker, make_topic):
    class FirstLetter(KafkaTopicSelector):
        def apply(self, data):
            return f"{first}-{data.value[0]}"

    first = make_topic(1)
    topics = [make_topic(1, name=f"{first}-{letter}") for letter in "ab"]
    texts = ["a 1", "b Grüße", "a 3"]
    produce(broker.bootstrap_servers, first, [{"value": text.encode()} for text in texts])
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(broker.bootstrap_servers)
        .set_topics(first)
        .set_group_id("my-group")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    serializer = (
        KafkaRecordSerializationSchema.builder()
        .set_topic_selector(FirstLetter())
        .set_value_serialization_schema(SimpleStringSchema("ISO-8859-1"))
        .set_key_serialization_schema(SimpleStringSchema())
        .build()
    )
    builder = KafkaSink.builder().set_bootstrap_servers(broker.bootstrap_servers).set_record_serializer(serializer)

    rows = source.load(spark)
    builder.build().write(rows)

    assert rows.dtypes == [("value", "string")]
    assert sorted(row.value for row in rows.collect()) == sorted(texts)
    assert source.load(spark, "value BINARY").dtypes == [("value", "binary")]
    for topic, letter in zip(topics, "ab", strict=True):
        expected = [(text.encode(), text.encode("ISO-8859-1")) for text in texts if text[0] == letter]
        assert [(message.key(), message.value()) for message in consume(broker.bootstrap_servers, topic)] == expected


def test_texts_have_keys_and_metadata_beside_them(spark, broker, source, sink, make_topic):
    topic = make_topic(1)
    serializer = KafkaRecordSerializationSchema.builder().set_topic(topic)
    serializer.set_value_serialization_schema(SimpleStringSchema()).set_key_serialization_schema("raw", ["id"])

    sink(serializer).build().write(spark.createDataFrame([("k", "v")], "id STRING, value STRING"))

    assert [(each.key(), each.value()) for each in consume(broker.bootstrap_servers, topic)] == [(b"k", b"v")]
    built = source(topic).set_bounded(KafkaOffsetsInitializer.latest()).set_deserializer(SimpleStringSchema())
    rows = built.set_option("metadata.columns", "offset").build().load(spark)
    assert [tuple(row) for row in rows.collect()] == [("v", 0)]


@pytest.mark.parametrize("interval", nightly_but([None, "10"], "10"))
def test_new_partitions_are_read_where_the_program_says_so(
    spark, broker, source, make_topic, tmp_path, interval, request
):
    topic, rows = make_topic(1), []
    built = source(topic).set_value_only_deserializer(SimpleStringSchema())
    if interval:
        built.set_property("partition.discovery.interval.ms", interval)
    writing = (
        built.build()
        .load(spark)
        .writeStream.foreachBatch(lambda batch, _: rows.extend(row.value for row in batch.collect()))
    )
    query = writing.option("checkpointLocation", str(tmp_path)).trigger(processingTime="50 milliseconds").start()
    request.addfinalizer(query.stop)
    produce(broker.bootstrap_servers, topic, [{"value": b"first", "partition": 0}])
    wait_until(lambda: rows == ["first"], "the first row")

    add_partitions(broker.bootstrap_servers, topic, 2)
    produce(broker.bootstrap_servers, topic, [{"value": b"added", "partition": 1}])
    if interval:
        wait_until(lambda: rows == ["first", "added"], "the row of the new partition")
    for number in range(3):
        produce(broker.bootstrap_servers, topic, [{"value": b"%d" % number, "partition": 0}])
        wait_until(lambda last=str(number): rows[-1] == last, "the next row")

    assert [row for row in rows if row == "added"] == (["added"] if interval else [])


@pytest.mark.nightly
def test_a_query_reads_a_topic_twice_where_spark_demands_names_of_sources(spark, broker, source, make_topic, tmp_path):
    session = spark.newSession()
    session.conf.set(SOURCE_EVOLUTION, "true")
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": b"1"}])
    columns = "value BINARY"

    read = source(topic).build()
    both = read.load(session, columns).union(read.load(session, columns, source_name="again"))

    query = both.writeStream.format("memory").queryName("both").option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        assert [row.value for row in session.table("both").collect()] == [b"1", b"1"]
    finally:
        query.stop()
