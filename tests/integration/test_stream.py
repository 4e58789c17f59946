"""Streaming queries through Spark on the real broker."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.errors import StreamingQueryException

import millrace
from millrace.errors import OptionsError
from support.admin import add_partitions
from support.kafka import commit_offsets, committed_offsets, consume, produce
from support.waiting import PATIENCE_S, wait_until


@pytest.fixture
def run(spark, connection, tmp_path):
    """Start queries from one topic to another; all are stopped after the test."""
    queries = []

    def start(source: str, target: str, trigger=None, startup="earliest-offset", **options):
        given = {**({"scan.startup.mode": startup} if startup else {}), **options}
        rows = spark.readStream.format("millrace").options(**connection, topic=source).options(**given).load()
        writer = rows.select("key", "value").writeStream.format("millrace").options(**connection, topic=target)
        query = (
            writer.option("checkpointLocation", str(tmp_path)).trigger(**trigger or {"availableNow": True})
        ).start()
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


def numbered(count: int, first: int = 0) -> list[dict[str, bytes]]:
    return [{"key": str(n).encode(), "value": str(n).encode()} for n in range(first, first + count)]


def commit(broker, group: str, topic: str, offset: int) -> None:
    commit_offsets(broker.bootstrap_servers, group, [TopicPartition(topic, 0, offset)])


def values(broker, topic: str) -> list[int]:
    return sorted(int(message.value()) for message in consume(broker.bootstrap_servers, topic))


def test_exactly_once_refuses_asynchronous_progress_tracking_before_it_writes(
    spark, connection, broker, make_topic, tmp_path
):
    source, target = make_topic(1), make_topic(1)
    produce(broker.bootstrap_servers, source, numbered(10))
    rows = spark.readStream.format("millrace").options(**connection, topic=source)
    query = (
        rows.option("scan.startup.mode", "earliest-offset")
        .load()
        .select("key", "value")
        .writeStream.format("millrace")
        .options(**connection, topic=target, checkpointLocation=str(tmp_path))
        .option("sink.delivery-guarantee", "exactly-once")
        .option("sink.transactional-id-prefix", "asynchronous")
        .option("asyncProgressTrackingEnabled", "true")
        .option("_asyncProgressTrackingOverrideSinkSupportCheck", "true")
        .start()
    )
    with pytest.raises(StreamingQueryException, match="'exactly-once' excludes 'asyncProgressTrackingEnabled'"):
        query.awaitTermination(PATIENCE_S)
    assert not list(consume(broker.bootstrap_servers, target))


def test_a_stream_goes_on_from_its_checkpoint(run, broker, make_topic):
    source, target = make_topic(3), make_topic(2)
    produce(broker.bootstrap_servers, source, numbered(500))
    run(source, target).awaitTermination(PATIENCE_S)
    produce(broker.bootstrap_servers, source, numbered(500, first=500))

    run(source, target).awaitTermination(PATIENCE_S)

    assert values(broker, target) == list(range(1_000))


def test_a_first_micro_batch_that_failed_is_done_again_from_where_it_began(
    spark, broker, connection, make_topic, tmp_path
):
    source = make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))
    commit(broker, source, source, 2)
    options = {**connection, "topic": source, "scan.startup.mode": "group-offsets", "properties.group.id": source}
    found: list[int] = []

    def start(write):
        rows = spark.readStream.format("millrace").options(**options).load()
        writer = rows.selectExpr("int(string(value)) value").writeStream.foreachBatch(write)
        return writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()

    def fail(batch, _):
        raise RuntimeError("the first micro-batch fails")

    with pytest.raises(StreamingQueryException, match="the first micro-batch fails"):
        start(fail).awaitTermination(PATIENCE_S)
    commit(broker, source, source, 7)

    assert start(lambda batch, _: found.extend(row.value for row in batch.collect())).awaitTermination(PATIENCE_S)

    assert sorted(found) == list(range(2, 10))


def test_a_micro_batch_takes_no_more_records_than_allowed(run, broker, make_topic):
    source, target = make_topic(3), make_topic()
    produce(broker.bootstrap_servers, source, numbered(1_000))

    query = run(source, target, **{"scan.max-records-per-batch": "300"})
    assert query.awaitTermination(PATIENCE_S)

    assert [progress.numInputRows for progress in query.recentProgress if progress.numInputRows] == [300, 300, 300, 100]
    assert values(broker, target) == list(range(1_000))


def test_a_micro_batch_waits_for_enough_records(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(1))
    few = {"scan.min-records-per-batch": "10", "scan.max-batch-delay": "1 h"}
    query = run(source, target, trigger={"processingTime": "20 milliseconds"}, **few)
    wait_until(lambda: values(broker, target) == [0], "the first record, which nothing holds back")
    wait_until(lambda: query.lastProgress, "the first micro-batch to end")
    produce(broker.bootstrap_servers, source, numbered(9, first=1))
    latest = lambda: json.loads(query.lastProgress.sources[0].latestOffset)["topics"][source]["0"]  # noqa: E731
    wait_until(lambda: latest() == 10, "the planner to have seen nine more")
    assert values(broker, target) == [0]
    assert [each.batchId for each in query.recentProgress if each.numInputRows] == [0]

    produce(broker.bootstrap_servers, source, numbered(1, first=10))

    wait_until(lambda: values(broker, target) == list(range(11)), "all ten")


def test_available_now_does_not_wait_for_enough_records(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    for first in (0, 1):
        produce(broker.bootstrap_servers, source, numbered(1, first=first))
        query = run(source, target, **{"scan.min-records-per-batch": "10", "scan.max-batch-delay": "1 h"})
        assert query.awaitTermination(PATIENCE_S)

    assert values(broker, target) == [0, 1]


def test_a_read_has_as_many_tasks_as_asked_for(spark, connection, broker, make_topic):
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, numbered(1_000))
    read = spark.read.format("millrace").options(**connection, topic=topic)

    assert read.load().rdd.getNumPartitions() == 1
    assert read.option("scan.parallelism", "7").load().rdd.getNumPartitions() >= 7
    rows = read.option("scan.split.max-records", "100").load()
    assert rows.rdd.getNumPartitions() >= 10
    assert sorted(int(row.value) for row in rows.collect()) == list(range(1_000))


def test_a_micro_batch_takes_about_the_bytes_allowed(run, broker, make_topic):
    source, target = make_topic(2), make_topic()
    produce(broker.bootstrap_servers, source, [{"value": b"x" * 250} for _ in range(800)])

    query = run(source, target, **{"scan.max-bytes-per-batch": "50000"})
    assert query.awaitTermination(PATIENCE_S)

    assert [progress.numInputRows for progress in query.recentProgress if progress.numInputRows] == [200] * 4


def test_available_now_leaves_what_comes_later(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))
    query = run(source, target, **{"scan.max-records-per-batch": "1"})
    wait_until(lambda: query.recentProgress, "the first micro-batch")

    produce(broker.bootstrap_servers, source, numbered(10, first=10))
    assert query.awaitTermination(PATIENCE_S)

    assert values(broker, target) == list(range(10))


def test_a_stream_starts_at_the_latest_offsets_by_default(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))
    query = run(source, target, trigger={"processingTime": "100 milliseconds"}, startup=None)
    wait_until(lambda: query.lastProgress is not None, "the query to have started")

    produce(broker.bootstrap_servers, source, numbered(5, first=10))

    wait_until(lambda: values(broker, target) == list(range(10, 15)), "the new records")


def test_a_bounded_stream_stops_where_its_topics_ended_at_the_start(run, broker, make_topic):
    source, target = make_topic(2), make_topic()
    produce(broker.bootstrap_servers, source, numbered(20))
    bounded = {"scan.bounded.mode": "latest-offset"}
    run(source, target, **bounded).awaitTermination(PATIENCE_S)

    produce(broker.bootstrap_servers, source, numbered(20, first=20))
    run(source, target, **bounded).awaitTermination(PATIENCE_S)

    assert values(broker, target) == list(range(20))


def test_a_bounded_stream_waits_for_records_up_to_its_stop(run, broker, make_topic):
    source, target = make_topic(1), make_topic(1)
    produce(broker.bootstrap_servers, source, numbered(20))
    bounded = {"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:30"}
    query = run(source, target, {"processingTime": "50 milliseconds"}, **bounded)
    wait_until(lambda: len(values(broker, target)) == 20, "the records that there are")
    assert not millrace.await_end(query, 1)

    produce(broker.bootstrap_servers, source, numbered(20, first=20))

    assert millrace.await_end(query, PATIENCE_S)
    assert values(broker, target) == list(range(30))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scan.bounded.mode": "specific-offsets", "scan.bounded.specific-offsets": "partition:0,offset:7"}, 7),
        ({"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "1700000005000"}, 5),
        ({"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "1900000000000"}, 20),
        ({"scan.bounded.mode": "group-offsets", "properties.group.id": "bounded-by-it"}, 12),
    ],
    ids=["offset", "time", "time to come", "group"],
)
def test_a_stream_ends_where_it_is_told(run, broker, make_topic, options, expected):
    source, target = make_topic(), make_topic()
    records = [{**record, "timestamp": 1_700_000_000_000 + n * 1000} for n, record in enumerate(numbered(20))]
    produce(broker.bootstrap_servers, source, records)
    commit(broker, "bounded-by-it", source, 12)
    query = run(source, target, {"processingTime": "50 milliseconds"}, **options)

    assert millrace.await_end(query, PATIENCE_S)

    assert values(broker, target) == list(range(expected))


def test_a_bounded_stream_with_another_trigger_is_ended_by_waiting_for_it(run, broker, make_topic):
    source, target = make_topic(2), make_topic()
    produce(broker.bootstrap_servers, source, numbered(20))
    trigger = {"processingTime": "50 milliseconds"}
    query = run(source, target, trigger, **{"scan.bounded.mode": "latest-offset", "scan.max-records-per-batch": "6"})

    assert millrace.await_end(query, PATIENCE_S)

    assert not query.isActive
    assert values(broker, target) == list(range(20))


def test_a_bounded_stream_of_an_empty_topic_ends_as_well(run, make_topic):
    query = run(
        make_topic(), make_topic(), {"processingTime": "50 milliseconds"}, **{"scan.bounded.mode": "latest-offset"}
    )
    assert millrace.await_end(query, PATIENCE_S)


def test_a_stream_that_is_not_bounded_is_not_waited_for(run, broker, make_topic):
    source = make_topic()
    produce(broker.bootstrap_servers, source, numbered(1))
    query = run(source, make_topic(), {"processingTime": "50 milliseconds"})
    with pytest.raises(OptionsError, match=r"the stream is not bounded: give the option 'scan.bounded.mode'"):
        millrace.await_end(query, PATIENCE_S)


def test_partitions_added_while_running_are_read_from_their_beginning(run, broker, make_topic):
    source, target = make_topic(1), make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))
    query = run(
        source,
        target,
        trigger={"processingTime": "100 milliseconds"},
        **{"scan.topic-partition-discovery.interval": "200 ms"},
    )
    wait_until(lambda: len(values(broker, target)) == 10, "the first records")

    add_partitions(broker.bootstrap_servers, source, 3)
    produce(broker.bootstrap_servers, source, [{**record, "partition": 2} for record in numbered(10, first=10)])

    wait_until(lambda: values(broker, target) == list(range(20)), "the records of the new partition")
    assert query.isActive


def test_progress_shows_how_far_the_topic_goes(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))

    query = run(source, target, **{"scan.max-records-per-batch": "4"})
    assert query.awaitTermination(PATIENCE_S)

    first = query.recentProgress[0].sources[0]
    assert json.loads(first.endOffset)["topics"] == {source: {"0": 4}}
    assert json.loads(first.latestOffset)["topics"] == {source: {"0": 10}}


def test_typed_rows_stream_through_an_aggregation(spark, connection, broker, make_topic, tmp_path):
    source, target = make_topic(2), make_topic()
    orders = [{"id": n, "country": "de" if n % 3 else "fr", "amount": 1.5} for n in range(3_000)]
    produce(broker.bootstrap_servers, source, [{"value": json.dumps(order).encode()} for order in orders])
    rows = (
        spark.readStream.format("millrace")
        .schema("id BIGINT, country STRING, amount DOUBLE")
        .options(**connection, topic=source, format="json")
        .options(**{"scan.startup.mode": "earliest-offset"})
        .load()
    )

    query = (
        rows.groupBy("country")
        .agg({"amount": "sum", "id": "count"})
        .toDF("country", "revenue", "orders")
        .writeStream.format("millrace")
        .outputMode("complete")
        .options(**connection, topic=target, format="json", checkpointLocation=str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE_S)

    totals = [json.loads(message.value()) for message in consume(broker.bootstrap_servers, target)]
    assert sorted(totals, key=lambda total: total["country"]) == [
        {"country": "de", "revenue": 3_000.0, "orders": 2_000},
        {"country": "fr", "revenue": 1_500.0, "orders": 1_000},
    ]


def test_order_within_a_partition_is_kept(run, broker, make_topic):
    source, target = make_topic(3), make_topic(1)
    records = [{"value": str(n).encode(), "partition": n % 3} for n in range(9_000)]
    produce(broker.bootstrap_servers, source, records)

    run(source, target, **{"scan.max-records-per-batch": "1000"}).awaitTermination(PATIENCE_S)

    written = [int(message.value()) for message in consume(broker.bootstrap_servers, target)]
    by_partition = {partition: [n for n in written if n % 3 == partition] for partition in range(3)}
    assert all(numbers == sorted(numbers) for numbers in by_partition.values())
    assert Counter(written) == Counter(range(9_000))


def test_new_topics_of_a_pattern_are_read_from_their_beginning(spark, connection, broker, make_topic, tmp_path):
    first, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, first, numbered(5))
    query = (
        spark.readStream.format("millrace")
        .options(**connection)
        .options(**{"topic-pattern": f"{first}.*", "scan.topic-partition-discovery.interval": "200 ms"})
        .options(**{"scan.startup.mode": "earliest-offset"})
        .load()
        .select("key", "value")
        .writeStream.format("millrace")
        .options(**connection, topic=target, checkpointLocation=str(tmp_path))
        .start()
    )
    try:
        wait_until(lambda: values(broker, target) == list(range(5)), "the first topic's records")
        second = make_topic(2, name=f"{first}-more")
        produce(broker.bootstrap_servers, second, numbered(5, first=5))
        wait_until(lambda: values(broker, target) == list(range(10)), "the second topic's records")
    finally:
        query.stop()


def committed(broker, group: str, topic: str) -> int:
    (offset,) = committed_offsets(broker.bootstrap_servers, group, [TopicPartition(topic, 0)])
    return offset


def test_the_consumer_group_follows_the_stream(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(30))
    group = {"properties.group.id": source, "properties.auto.offset.reset": "earliest"}

    run(source, target, trigger={"processingTime": "100 milliseconds"}, **group, **{"scan.max-records-per-batch": "10"})

    wait_until(lambda: committed(broker, source, source) >= 20, "the group's offsets to be committed")


def test_the_group_of_a_table_is_named_after_it(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))
    assert run(source, target, **{"table-name": source}).awaitTermination(PATIENCE_S)

    wait_until(lambda: committed(broker, f"KafkaSource-{source}", source) == 10, "the group's offset")


def test_a_group_does_not_follow_when_it_is_told_not_to(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(10))
    run(
        source, target, **{"properties.group.id": "left-alone", "commit.offsets.on.checkpoint": "false"}
    ).awaitTermination(PATIENCE_S)

    assert values(broker, target) == list(range(10))
    assert committed(broker, "left-alone", source) < 0


def test_a_commit_that_fails_does_not_end_the_stream(run, broker, make_topic):
    source, target = make_topic(), make_topic()
    produce(broker.bootstrap_servers, source, numbered(30))
    # Offsets of a group whose member is subscribed cannot be changed from outside
    member = subscribed_member(broker, source)
    try:
        query = run(source, target, **{"properties.group.id": source, "scan.max-records-per-batch": "10"})
        assert query.awaitTermination(PATIENCE_S)
        assert values(broker, target) == list(range(30))
        assert committed(broker, source, source) < 0
    finally:
        member.close()


def subscribed_member(broker, topic: str):

    member = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": topic, "enable.auto.commit": "false"})
    member.subscribe([topic])

    def joined() -> bool:
        member.poll(0.1)
        return bool(member.assignment())

    wait_until(joined, "the member to have joined its group")
    return member
