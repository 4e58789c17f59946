"""Queries for Spark's own Kafka connector give the same with millrace, after changing the name of the format alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.connector_jars import connector_jars
from confluent_kafka import TopicPartition

from support import spark_connector
from support.admin import delete_topics
from support.kafka import commit_offsets, committed_offsets, consume, produce
from support.names import unique_name

RECORDS = 8
FIRST_TIME = 1_767_323_045_000
pytestmark = pytest.mark.spark_connector

MARK = unique_name("spark-names")
ORDERS, AUDIT, BUSY = f"{MARK}-orders", f"{MARK}-audit", f"{MARK}-busy"
GROUP = f"{MARK}-group"


def at(index: int) -> int:
    """The time of each partition's record with that index."""
    return FIRST_TIME + 1000 * index


def of_orders(*values: int) -> dict[str, dict[str, int]]:
    return {ORDERS: {str(partition): value for partition, value in enumerate(values)}}


BATCHES: dict[str, tuple[int, dict[str, Any]]] = {
    "subscribe": (5 * RECORDS, {"subscribe": f"{ORDERS}, {AUDIT}"}),
    "subscribe_pattern": (5 * RECORDS, {"subscribePattern": f"{MARK}-(orders|aud.*)"}),
    "headers": (
        3 * RECORDS,
        {"subscribe": ORDERS, "includeHeaders": "true", "startingOffsets": "earliest", "endingOffsets": "latest"},
    ),
    "offsets": (
        (RECORDS - 3) + 5 + 1,
        {"subscribe": ORDERS, "startingOffsets": of_orders(3, -2, 4), "endingOffsets": of_orders(-1, 5, 5)},
    ),
    "assign": (2 * RECORDS, {"assign": {ORDERS: [2], AUDIT: [0]}}),
    "offsets_of_assigned": (
        (RECORDS - 6) + 2,
        {
            "assign": {ORDERS: [1], AUDIT: [1]},
            "startingOffsets": {ORDERS: {"1": 6}, AUDIT: {"1": -2}},
            "endingOffsets": {ORDERS: {"1": -1}, AUDIT: {"1": 2}},
        },
    ),
    "time": (3 * 4, {"subscribe": ORDERS, "startingTimestamp": at(2), "endingTimestamp": at(6)}),
    "time_behind_the_end": (3 * 6, {"subscribe": ORDERS, "startingTimestamp": at(2) - 999, "endingTimestamp": at(99)}),
    "times": (
        (3 - 1) + (RECORDS - 2) + (RECORDS - 3),
        {
            "subscribe": ORDERS,
            "startingOffsetsByTimestamp": of_orders(at(1), at(2), at(3)),
            "endingOffsetsByTimestamp": of_orders(at(3), at(99), at(99)),
        },
    ),
    "no_record_from_a_time_on": (
        RECORDS,
        {
            "subscribe": ORDERS,
            "startingOffsetsByTimestamp": of_orders(at(99), at(0), at(99)),
            "startingOffsetsByTimestampStrategy": "latest",
        },
    ),
    "precedence": (
        3 * 1,
        {
            "subscribe": ORDERS,
            "startingTimestamp": at(7),
            "startingOffsetsByTimestamp": of_orders(at(6), at(6), at(6)),
            "startingOffsets": "earliest",
            "endingOffsetsByTimestamp": of_orders(at(8), at(8), at(8)),
            "endingOffsets": of_orders(1, 1, 1),
        },
    ),
    "group": (3 * RECORDS, {"subscribe": ORDERS, "kafka.group.id": GROUP}),
    "without_effect": (
        3 * RECORDS,
        {
            "subscribe": ORDERS,
            "kafkaConsumer.pollTimeoutMs": "5000",
            "fetchOffset.numRetries": "2",
            "fetchOffset.retryIntervalMs": "50",
            "kafka.max.poll.records": "2",
            "groupIdPrefix": GROUP,
            "minPartitions": "4",
            "failOnDataLoss": "false",
        },
    ),
}

STREAMS: dict[str, tuple[int, dict[str, Any]]] = {
    "from_earliest": (90, {"subscribe": BUSY, "startingOffsets": "earliest", "maxOffsetsPerTrigger": "30"}),
    "from_latest": (0, {"subscribe": ORDERS, "kafka.group.id": GROUP}),
    "from_offsets": (
        (RECORDS - 3) + RECORDS,
        {"subscribe": ORDERS, "startingOffsets": of_orders(3, -2, -1), "includeHeaders": "true"},
    ),
    "from_a_time": (3 * 2, {"subscribe": ORDERS, "startingTimestamp": at(6), "kafka.group.id": GROUP}),
}

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "two_selections": (
        "options 'subscribe' and 'assign' exclude each other",
        {"subscribe": ORDERS, "assign": {ORDERS: [0]}},
    ),
    "no_partition": (
        f"partition 3 of topic '{ORDERS}' is not among the partitions that are read",
        {"subscribe": ORDERS, "startingOffsets": of_orders(0, 0, 0, 0)},
    ),
    "not_all_partitions_at_the_start": (
        f"every partition that is read must be named; missing: {ORDERS}-2",
        {"subscribe": ORDERS, "startingOffsets": of_orders(0, 0)},
    ),
    "not_all_times": (
        f"every partition that is read must be named; missing: {ORDERS}-1, {ORDERS}-2",
        {"subscribe": ORDERS, "endingOffsetsByTimestamp": of_orders(at(1))},
    ),
    "another_topic": (
        f"partition 0 of topic '{AUDIT}' is not among the partitions that are read",
        {"subscribe": ORDERS, "endingOffsets": {**of_orders(1, 1, 1), AUDIT: {"0": 1}}},
    ),
    "no_record_from_then_on": (
        f"no record in {ORDERS}-0 (nor in 2 more partitions) has the timestamp {at(99)} or a later one",
        {"subscribe": ORDERS, "startingTimestamp": at(99)},
    ),
    "offset_reset": (
        "option 'kafka.auto.offset.reset' cannot be set",
        {"subscribe": ORDERS, "kafka.auto.offset.reset": "earliest"},
    ),
    "end_before_start": (
        f"'startingOffsets' is behind 'endingOffsets' for {ORDERS}-1: expected at most 3; got 4",
        {"subscribe": ORDERS, "startingOffsets": of_orders(4, 4, 4), "endingOffsets": of_orders(5, 3, 5)},
    ),
}

KEYED = """
SELECT CAST(id AS STRING) AS key, CASE WHEN id % 7 = 0 THEN NULL ELSE CONCAT('value ', id) END AS value,
       IF(id % 3 = 0, NULL, ARRAY(NAMED_STRUCT('key', 'a', 'value', CAST(CAST(id AS STRING) AS BINARY)),
                                  NAMED_STRUCT('key', 'a', 'value', NULL))) AS headers
FROM RANGE(200)
"""
PLACED = f"""
SELECT CAST(CAST(id AS STRING) AS BINARY) AS key, CAST(CONCAT('value ', id) AS BINARY) AS value,
       CAST(id % 3 AS INT) AS partition, '{MARK}-placed-' || IF(id % 2 = 0, 'even', 'odd') || '-{{connector}}' AS topic
FROM RANGE(60)
"""
CLIENT = {"kafka.acks": "all", "kafka.compression.type": "gzip", "kafka.linger.ms": "3"}

WRITES: dict[str, dict[str, Any]] = {
    "keyed": {"rows": KEYED, "options": {"topic": f"{MARK}-keyed-{{connector}}", **CLIENT}},
    "streamed": {
        "rows": KEYED,
        "options": {"topic": f"{MARK}-streamed-{{connector}}", **CLIENT},
        "streaming": True,
    },
    "placed": {"rows": PLACED, "options": CLIENT},
}
WRITTEN = ("keyed", "streamed", "placed-even", "placed-odd")


@pytest.fixture(scope="module")
def topics(broker):
    """The topics of all queries; their records, in the past, must not expire."""
    written = [f"{MARK}-{kind}-{connector}" for kind in WRITTEN for connector in spark_connector.CONNECTORS]
    made = {ORDERS: 3, AUDIT: 2, BUSY: 3, **dict.fromkeys(written, 3)}
    for topic, partitions in made.items():
        broker.create_topic(topic, partitions, {"retention.ms": "-1"})
    for topic in (ORDERS, AUDIT):
        produce(broker.bootstrap_servers, topic, [record(n, p) for p in range(made[topic]) for n in range(RECORDS)])
    produce(broker.bootstrap_servers, BUSY, [{"value": str(n).encode(), "partition": n % 3} for n in range(90)])
    yield
    delete_topics(broker.bootstrap_servers, made)


def record(index: int, partition: int) -> dict[str, Any]:
    headers = [("n", str(index).encode()), ("n", None)] if index % 2 else None
    key = None if index % 3 == 0 else f"key {index}".encode()
    value = f"{index} of {partition}".encode()
    return {"key": key, "value": value, "partition": partition, "timestamp": at(index), "headers": headers}


@pytest.fixture(scope="module")
def committed(broker, topics):
    """A group that has read a part of the orders."""
    partitions = [TopicPartition(ORDERS, number, 5) for number in range(3)]
    commit_offsets(broker.bootstrap_servers, GROUP, partitions)
    return lambda: committed_offsets(broker.bootstrap_servers, GROUP, partitions)


@pytest.fixture(scope="module")
def found(broker, topics, committed):
    """Results of every query with each connector; all of them ran in one session."""
    queries: dict[str, dict[str, Any]] = {
        **{name: {"kind": "batch", "options": options} for name, (_, options) in BATCHES.items()},
        **{name: {"kind": "batch", "options": options} for name, (_, options) in REFUSED.items()},
        **{name: {"kind": "stream", "options": options} for name, (_, options) in STREAMS.items()},
        **{name: {"kind": "write", **query} for name, query in WRITES.items()},
    }
    for name, query in queries.items():
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in query["options"].items()}
        # Spark's connector waits a second before it tries again what cannot succeed
        common = {"kafka.bootstrap.servers": broker.bootstrap_servers, "fetchOffset.numRetries": "1"}
        query["options"] = {**common, **texts}
        query["name"] = name
    given = json.dumps({"jars": list(map(str, connector_jars())), "queries": queries})
    run = subprocess.run(
        [sys.executable, Path(spark_connector.__file__)], input=given, capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_has_the_same_rows(found, name):
    assert found[name]["kafka"].get("error") is None
    assert found[name]["millrace"] == found[name]["kafka"]
    assert len(found[name]["millrace"]["rows"]) == BATCHES[name][0]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_has_the_same_rows(found, name):
    own, theirs = found[name]["millrace"], found[name]["kafka"]
    assert theirs.get("error") is None
    assert own["schema"] == theirs["schema"]
    assert own["rows"] == theirs["rows"]
    assert len(own["rows"]) == STREAMS[name][0]


def test_a_micro_batch_keeps_the_limit(found):
    assert found["from_earliest"]["millrace"]["sizes"] == found["from_earliest"]["kafka"]["sizes"] == [30, 30, 30]


@pytest.mark.parametrize("name", REFUSED)
def test_what_sparks_connector_refuses_is_refused(found, name):
    assert "error" in found[name]["kafka"]
    assert REFUSED[name][0] in found[name]["millrace"]["error"]


def test_the_group_of_sparks_option_is_neither_followed_nor_committed(found, committed):
    assert committed() == [5, 5, 5]
    starts = {row[3]: row[4] for row in reversed(found["group"]["millrace"]["rows"])}
    assert starts == {0: 0, 1: 0, 2: 0}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_same_records_are_written(found, broker, name):
    query = name.partition("-")[0]
    assert found[query] == {"kafka": {}, "millrace": {}}
    own, theirs = (
        [
            (message.partition(), message.key(), message.value(), message.headers())
            for message in consume(broker.bootstrap_servers, f"{MARK}-{name}-{connector}")
        ]
        for connector in ("millrace", "kafka")
    )
    assert own == theirs
    assert len(own) == (30 if query == "placed" else 200)
