"""Malformed messages of real topics: skipped, counted, limited, and written as dead letters that can be replayed."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException

import millrace
from millrace.configuration.build import configure_source
from millrace.errors import DeliveryError
from millrace.source.enumerator.planner import Planner
from millrace.source.reader.dead_letters import collector_for
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.pipeline import read_split
from millrace.source.reader.split_metrics import SplitMetrics
from support import worker_plugins
from support.kafka import consume, produce
from support.tiers import nightly_but
from support.waiting import wait_until

MAX_COUNT = "ingestion.error-tolerance.max-count"
TOLERANT = {"format": "json", "ingestion.ignore-errors": "true"}
FATAL = Path(__file__).parents[1] / "support" / "fatal_messages.py"


def letters_to(topic: str) -> dict[str, str]:
    return {**TOLERANT, "dirty-data.collector": "topic", "dirty-data.collector.topic": topic}


@pytest.fixture
def write(broker):
    return lambda topic, *records: produce(broker.bootstrap_servers, topic, records)


@pytest.fixture
def read(spark, connection):
    """The rows of a batch read, as tuples."""

    def rows(schema: str, **options: str) -> list[tuple]:
        loaded = spark.read.format("millrace").options(**connection, **options).schema(schema).load()
        return [tuple(row) for row in loaded.collect()]

    return rows


@pytest.fixture
def stream(spark, connection, tmp_path):
    """Start a query that puts its rows, as tuples, into a list; it is stopped after the test."""
    queries = []

    def start(schema: str, rows: list[tuple], then=lambda loaded: loaded, **options: str):
        given = {"scan.startup.mode": "earliest-offset", **connection, **options}
        loaded = then(spark.readStream.format("millrace").options(**given).schema(schema).load())
        saved = loaded.writeStream.foreachBatch(lambda batch, _: rows.extend(map(tuple, batch.collect())))
        query = saved.option("checkpointLocation", str(tmp_path)).start()
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


def failure_of(query) -> str:
    with pytest.raises(StreamingQueryException) as raised:
        query.processAllAvailable()
    return str(raised.value)


def test_malformed_messages_become_dead_letters_that_can_be_replayed(
    spark, broker, connection, make_topic, write, read
):
    topic, dead = make_topic(2), make_topic()
    headers = [("trace", b"\xff"), ("trace", None)]
    write(
        topic,
        {"key": b'{"id":1}', "value": b'{"name":"a"}', "partition": 0},
        {"key": b'{"id":2}', "value": b"{oops \xff", "partition": 0, "headers": headers, "timestamp": 1_500_000},
        {"key": b'{"id":3}', "value": None, "partition": 0},
        {"key": b"\x00bad key", "value": b'{"name":"d"}', "partition": 1},
        {"key": None, "value": b"[1]", "partition": 1},
        {"key": b"no key either", "value": None, "partition": 1},
        {"key": b'{"id":7}', "value": b'{"name":"g"}', "partition": 1},
    )
    options = {
        **letters_to(dead),
        "topic": topic,
        "key.format": "json",
        "key.fields": "id",
        "value.fields-include": "EXCEPT_KEY",
        "metadata.columns": "partition, offset",
        # Dead letters would come much too late if no task waited for them
        "properties.linger.ms": "60000",
    }
    schema = "id INT, name STRING, partition INT, offset BIGINT"

    assert sorted(read(schema, **options)) == [(1, "a", 0, 0), (7, "g", 1, 3)]

    letters = {
        (message.headers()[-6][1], message.headers()[-5][1]): message
        for message in consume(broker.bootstrap_servers, dead)
    }
    assert {place: (letter.key(), letter.value()) for place, letter in letters.items()} == {
        (b"0", b"1"): (b'{"id":2}', b"{oops \xff"),
        (b"1", b"0"): (b"\x00bad key", b'{"name":"d"}'),
        (b"1", b"1"): (None, b"[1]"),
        (b"1", b"2"): (b"no key either", None),
    }
    told = letters[b"0", b"1"].headers()
    assert told[:-1] == [
        *headers,
        ("millrace.error.topic", topic.encode()),
        ("millrace.error.partition", b"0"),
        ("millrace.error.offset", b"1"),
        ("millrace.error.timestamp", b"1500000"),
        ("millrace.error.part", b"value"),
        ("millrace.error.format", b"json"),
    ]
    assert told[-1][0] == "millrace.error.reason"
    assert told[-1][1]
    assert letters[b"1", b"0"].headers()[-3:-1] == [
        ("millrace.error.part", b"key"),
        ("millrace.error.format", b"json"),
    ]

    raw = spark.read.format("millrace").options(**connection, topic=dead, includeHeaders="true").load()
    mended = raw.where("value = CAST('[1]' AS BINARY)").selectExpr(
        "CAST('{\"id\":5}' AS BINARY) AS key",
        'CAST(\'{"name":"e"}\' AS BINARY) AS value',
        "filter(headers, header -> header.key NOT LIKE 'millrace.error.%') AS headers",
    )
    mended.write.format("millrace").options(**connection, topic=topic).mode("append").save()
    assert sorted(name for _, name, *_ in read(schema, **options)) == ["a", "e", "g"]
    (replayed,) = (each for each in consume(broker.bootstrap_servers, topic) if each.key() == b'{"id":5}')
    assert replayed.headers() is None


def test_a_batch_ends_with_an_error_at_more_than_are_allowed(make_topic, write, read):
    topic = make_topic()
    write(topic, *({"value": value} for value in (b'{"id":1}', b"{oops", b'{"id":2}', b"\xff")))
    options = {**TOLERANT, "topic": topic, "dirty-data.collector": "logger"}

    assert read("id INT", **options, **{MAX_COUNT: "2"}) == [(1,), (2,)]
    with pytest.raises(PySparkException) as raised:
        read("id INT", **options, **{MAX_COUNT: "1"})
    text = str(raised.value)
    assert f"malformed messages read by this task: 2, more than the 1 that option '{MAX_COUNT}' allows" in text
    assert f"The last one is a malformed message in topic '{topic}', partition 0, offset 3: " in text
    assert "Traceback" not in text


def test_a_stream_counts_each_once_and_keeps_row_kinds(spark, make_topic, write, stream, tmp_path):
    def change(op: str, before: int | None, after: int | None) -> dict[str, bytes]:
        images = {"before": before and {"id": before}, "after": after and {"id": after}}
        return {"value": json.dumps({"op": op, **images, "source": {"table": "t"}}).encode()}

    def fail_once(batches):
        yield from batches
        if os.path.exists(token):  # noqa: PTH110 - runs in a worker, with what it can carry along
            os.remove(token)  # noqa: PTH107
            raise ValueError("the source has told what it has read, and the task fails")

    topic, schema, token = make_topic(), "row_kind STRING, id INT, offset BIGINT", str(tmp_path / "token")
    update, bad = change("u", 1, 2), [{"value": value} for value in (b"{oops", b'{"op":"u"}', b"]")]
    write(topic, change("c", None, 1), bad[0], update, {"value": None}, bad[1])
    options = {**TOLERANT, "format": "debezium-json", "topic": topic, "metadata.columns": "offset", MAX_COUNT: "3"}
    got, rows = [], []
    listener = millrace.MetricsListener(lambda _, source: got.append(source))
    spark.streams.addListener(listener)
    Path(token).touch()
    try:
        query = stream(schema, rows, lambda loaded: loaded.mapInArrow(fail_once, schema), **options)
        query.processAllAvailable()
        write(topic, bad[2], change("d", 2, None))
        query.processAllAvailable()

        def counted() -> bool:
            # What executors counted shows itself in the progress after that of their micro-batch
            write(topic, change("c", None, 3))
            query.processAllAvailable()
            return bool(got) and got[-1].num_records_in_errors == 3

        wait_until(counted, "the count")
    finally:
        spark.streams.removeListener(listener)
    assert not Path(token).exists()
    assert millrace.metrics(query).sources[0].to_dict()["partitions"][0]["numRecordsInErrors"] == 3
    assert rows[:4] == [("+I", 1, 0), ("-U", 1, 2), ("+U", 2, 2), ("-D", 2, 6)]


def test_a_stream_ends_with_an_error_at_more_than_are_allowed(make_topic, write, stream):
    topic, rows = make_topic(2), []
    # One task each, none of which meets too many
    options = {**TOLERANT, "topic": topic, "scan.split.max-records": "1", MAX_COUNT: "2"}
    write(topic, *({"value": value, "partition": n % 2} for n, value in enumerate([b'{"id":1}', b"{", b"}"])))
    query = stream("id INT", rows, **options)
    query.processAllAvailable()
    query.stop()
    assert rows == [(1,)]

    # What was met before does not count for a query that is started again
    query = stream("id INT", rows, **options)
    write(topic, {"value": b"]", "partition": 0})
    query.processAllAvailable()
    # The good one is not in a micro-batch before that of the last bad one
    write(topic, *({"value": value, "partition": 1} for value in (b"[", b"[", b'{"id":2}')))
    text = failure_of(query)
    assert f"malformed messages read by this query: 3, more than the 2 that option '{MAX_COUNT}' allows" in text
    assert f"The last one is a malformed message in topic '{topic}', partition 1, offset " in text
    assert rows == [(1,)]


@pytest.mark.parametrize(
    ("limit", "tolerated", "reason"),
    [
        (
            {"dirty-data.max-consecutive": "2"},
            [[b"{", b"{", b'{"id":1}', b"{"], [b"{"]],
            "this query one after another in a partition: 3, more than the 2 that option 'dirty-data.max-consecutive'",
        ),
        (
            {"dirty-data.max-ratio": "2 %"},
            [[b"{"] * 5, [b'{"id":1}'] * 94],
            "this query: 6 of 100, a larger share than the 0.02 that option 'dirty-data.max-ratio' allows",
        ),
    ],
    ids=["in a row", "share"],
)
def test_a_stream_ends_with_an_error_at_too_many_in_a_row_or_too_large_a_share(
    make_topic, write, stream, limit, tolerated, reason
):
    topic = make_topic()
    query = stream("id INT", [], **TOLERANT, topic=topic, **limit)
    for values in tolerated:
        write(topic, *({"value": value} for value in values))
        query.processAllAvailable()
    write(topic, {"value": b"{"})
    assert f"malformed messages read by {reason}" in failure_of(query)


@pytest.mark.nightly
def test_a_task_that_is_killed_has_written_each_dead_letter_when_it_is_done(
    spark, broker, make_topic, write, read, tmp_path
):
    spark.sparkContext.addPyFile(str(FATAL))
    topic, dead, token = make_topic(), make_topic(), tmp_path / "token"
    token.touch()
    values = [b"bad", *[b"good"] * 500, b"bad", f"kill {token}".encode(), *[b"good"] * 500, b"bad"]
    write(topic, *({"value": value} for value in values))

    rows = read("text STRING", **{**letters_to(dead), "format": "fatal_messages:FatalMessages", "topic": topic})

    assert not token.exists()
    assert len(rows) == 1_001
    offsets = [dict(message.headers())["millrace.error.offset"] for message in consume(broker.bootstrap_servers, dead)]
    assert set(offsets) == {b"0", b"501", b"1003"}


def test_a_dead_letter_that_cannot_be_written_fails_the_task(connection, make_topic, write):
    topic, small = make_topic(), make_topic(config={"max.message.bytes": "500"})
    write(topic, {"value": random.Random(1).randbytes(1_000)}, {"value": b'{"id":1}'})
    config = configure_source({**connection, "topic": topic, **letters_to(small)})
    (split,), metrics = Planner.connect(config).batch_splits(), SplitMetrics()
    error_policy = ErrorPolicy(config.options, metrics, collector_for(config))
    rows = read_split(config, pa.schema([("id", pa.int32())]), "UTC", split, metrics, error_policy)

    with pytest.raises(DeliveryError) as raised:
        list(rows)

    text = str(raised.value)
    assert text.startswith("1 of 1 dead letters (option 'dirty-data.collector') handed to the client so far")
    assert f"the first, {small}-0: " in text
    assert "Message size too large" in text


def test_a_collector_of_the_users_gets_them_and_writes_to_kafka(spark, broker, make_topic, write, read):
    spark.sparkContext.addPyFile(worker_plugins.__file__)
    topic, dead = make_topic(), make_topic()
    write(topic, *({"value": value} for value in (b'{"id":1}', b"{oops", b'{"id":2}', b"\xff")))
    collector = {"dirty-data.collector": "worker_plugins:Summary", "dirty-data.collector.summary-topic": dead}

    # The task waits for what its collector has produced
    rows = read("id INT", **TOLERANT, **collector, topic=topic, **{"properties.linger.ms": "60000"})

    assert rows == [(1,), (2,)]
    assert [message.value() for message in consume(broker.bootstrap_servers, dead)] == [b"1,3"]


def test_topics_of_the_users_collector_are_looked_up_first(spark, make_topic, read):
    spark.sparkContext.addPyFile(worker_plugins.__file__)
    topic = make_topic()
    collector = {"dirty-data.collector": "worker_plugins:Summary", "dirty-data.collector.summary-topic": f"{topic}-d"}

    with pytest.raises(AnalysisException, match=r"no topic '.*-d' at .*option 'dirty-data.collector.summary-topic'"):
        read("id INT", **TOLERANT, **collector, topic=topic)


@pytest.mark.parametrize("is_stream", nightly_but([False, True], False))
def test_a_topic_for_dead_letters_that_is_not_there_is_told_first(make_topic, read, stream, is_stream):
    topic = make_topic()
    options = {"topic": topic, **letters_to(f"{topic}-dead")}

    if is_stream:
        text = failure_of(stream("id INT", [], **options))
    else:
        with pytest.raises(AnalysisException) as raised:
            read("id INT", **options)
        text = str(raised.value)

    assert f"no topic '{topic}-dead' at " in text
    assert "(option 'dirty-data.collector.topic'). Did you mean" in text
