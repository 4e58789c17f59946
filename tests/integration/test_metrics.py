"""Metrics of real queries; the tests on a cluster and through Connect look at them there."""

from __future__ import annotations

import time

import pytest

import millrace
from millrace.api.metrics import source_metrics
from millrace.contracts.metric_declarations import CLIENT_METRICS
from support.kafka import produce, transactional_producer
from support.retrying import flush, retried
from support.waiting import wait_until

MINUTE_OLD_MS = int(time.time() * 1000) - 60_000
"""The time of the records, a minute before the first test."""


@pytest.fixture
def topic(broker, make_topic):
    name = make_topic(2)
    for partition, count in ((0, 30), (1, 10)):
        records = [{"value": b"12345", "partition": partition, "timestamp": MINUTE_OLD_MS} for _ in range(count)]
        produce(broker.bootstrap_servers, name, records)
    return name


@pytest.fixture
def run(spark, connection, topic, tmp_path):
    """Start a query on the topic; it is stopped after the test."""
    queries = []

    def start(**options):
        given = {"scan.startup.mode": "earliest-offset", **options}
        rows = spark.readStream.format("millrace").options(**connection, topic=topic, **given).load()
        counts = rows.withWatermark("timestamp", "10 seconds")
        query = counts.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


def newest(query):
    found = millrace.metrics(query).sources
    return found[0] if found else None


def test_metrics_tell_what_was_read_how_old_it_was_and_what_is_left(run, topic, broker):
    query = run(**{"properties.group.id": "metrics", "scan.max-records-per-batch": "20"})
    query.processAllAvailable()
    written = 30

    def one_more_batch():
        # What executors counted shows itself in the progress after that of their micro-batch, or later
        nonlocal written
        produce(broker.bootstrap_servers, topic, [{"value": b"", "partition": 0, "timestamp": MINUTE_OLD_MS}])
        written += 1
        query.processAllAvailable()
        return newest(query)

    wait_until(lambda: one_more_batch().num_records_in == 10 + written - 1, "all reports")
    found = newest(query)
    assert (found.num_bytes_in, found.missing_reports, found.records_skipped) == (200, 0, 0)
    assert [(each.partition, each.num_records_in, each.num_bytes_in) for each in found.partitions] == [
        (0, written - 1, 150),
        (1, 10, 50),
    ]
    assert [each.current_offset for each in found.partitions] == [written, 10]
    assert found.pending_records == 0
    assert found.num_records_in_per_second > 0
    assert 60_000 <= found.partitions[1].current_fetch_event_time_lag <= found.partitions[1].current_emit_event_time_lag
    age_ms = time.time() * 1000 - MINUTE_OLD_MS
    assert found.partitions[1].current_emit_event_time_lag <= age_ms
    assert found.source_idle_time >= 0
    # The watermark is 10 s behind the newest record
    assert 60_000 < found.watermark_lag <= age_ms + 10_000

    def is_committed():
        (zero, one) = one_more_batch().partitions
        return zero.committed_offset >= 30 and one.committed_offset == 10

    wait_until(is_committed, "the commits")
    assert newest(query).commits_succeeded >= 1
    assert newest(query).commits_failed == 0


def test_the_lag_is_what_the_log_went_on(run):
    query = run(**{"scan.max-records-per-batch": "10"})
    wait_until(lambda: query.recentProgress, "the first micro-batch")
    (found,) = source_metrics(query.recentProgress[0])
    assert found.pending_records == 30
    assert sum(each.current_offset for each in found.partitions) == 10


def test_the_lag_has_what_is_behind_an_open_transaction(run, topic, broker):
    query = run()
    query.processAllAvailable()
    hanging = transactional_producer(broker.bootstrap_servers, topic)
    hanging.begin_transaction()
    for _ in range(5):
        hanging.produce(topic, b"open", partition=0)
    flush(hanging)
    # Not readable either
    produce(broker.bootstrap_servers, topic, [{"value": b"behind", "partition": 0}])
    wait_until(lambda: newest(query).pending_records == 6, "the lag behind the transaction")
    found = newest(query)
    assert (found.last_stable_offset_lag, sum(each.current_offset for each in found.partitions)) == (6, 40)

    retried(hanging.commit_transaction)
    wait_until(lambda: sum(each.current_offset for each in newest(query).partitions) == 47, "its records")
    wait_until(lambda: newest(query).pending_records == 0, "no lag")
    assert newest(query).last_stable_offset_lag == 0


def test_a_listener_gets_the_metrics_of_every_query(spark, run, topic):
    got = []
    listener = millrace.MetricsListener(lambda query, source: got.append((query, source)))
    spark.streams.addListener(listener)
    try:
        query = run()
        wait_until(lambda: got, "metrics of the first micro-batch")
    finally:
        spark.streams.removeListener(listener)
    name, source = got[0]
    assert name == str(query.id)
    assert {each.topic for each in source.partitions} == {topic}


def test_consumers_say_what_they_do_unless_they_are_told_not_to(run, topic, broker, tmp_path):
    interval = {"properties.statistics.interval.ms": "1000", "scan.max-records-per-batch": "1"}
    interval["client.id.prefix"] = "orders-reader"
    query = run(**interval)
    found = lambda: [*newest(query).consumers.items()] if newest(query) else []  # noqa: E731
    wait_until(lambda: any(totals["rxmsgs"] > 0 for _, totals in found()), "statistics of a consumer that has read")
    assert all(client.startswith("orders-reader-") for client, _ in found())

    def with_latency():
        # Measured since the report before
        produce(broker.bootstrap_servers, topic, [{"value": b"1"}])
        return any("request-latency-avg" in metrics for _, metrics in found())

    wait_until(with_latency, "the latency of requests")
    for _, metrics in found():
        assert {name for name in metrics if "-" in name} <= {metric.source for metric in CLIENT_METRICS}
        assert metrics["records-consumed-total"] == metrics["rxmsgs"]
        assert metrics["connection-count"] >= 1
        assert metrics["connection-creation-total"] - metrics["connection-close-total"] >= 1
        assert metrics["network-io-total"] == metrics["request-total"] + metrics["response-total"]
        assert metrics["fetch-total"] <= metrics["request-total"]
        assert metrics["request-size-avg"] > 0
        if metrics["fetch-total"] and metrics["rxmsgs"]:
            assert metrics["records-per-request-avg"] == round(metrics["rxmsgs"] / metrics["fetch-total"], 3)
    query.stop()

    query = run(**interval, **{"register.consumer.metrics": "false"})
    produce(broker.bootstrap_servers, topic, [{"value": b"1"} for _ in range(5)])
    wait_until(lambda: newest(query) and newest(query).num_records_in > 2, "some micro-batches")
    assert newest(query).consumers == {}


def test_without_an_address_executors_tell_nothing(run):
    query = run(**{"scan.metrics.address": ""})
    query.processAllAvailable()
    found = newest(query)
    assert (found.num_records_in, found.missing_reports) == (0, 0)
    assert sum(each.current_offset for each in found.partitions) == 40
