"""Sinks are measured while a reporter runs, without a collector of their own."""

from __future__ import annotations

import pytest

import millrace
from millrace.contracts import MetricsReporter, QueryReport
from millrace.monitoring.session_receivers import SETTING
from support.kafka import produce
from support.waiting import wait_until


class Keeping(MetricsReporter):
    """Keep the last report of each query."""

    def __init__(self, options: object) -> None:
        self.last: dict[str, QueryReport] = {}

    def report(self, report: QueryReport) -> None:
        self.last[report.query] = report


@pytest.fixture
def reporter(spark):
    with millrace.report_metrics(spark, f"{__name__}:Keeping") as reports:
        yield reports.reporter
    assert spark.conf.get(SETTING, None) is None


@pytest.fixture
def rows(spark, connection, broker, make_topic):
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, [{"key": b"k", "value": b"12345", "partition": n % 2} for n in range(6)])
    options = {**connection, "topic": topic, "scan.startup.mode": "earliest-offset"}
    return spark.readStream.format("millrace").options(**options).schema("key BINARY, value BINARY").load()


def written(reporter: Keeping, query: str) -> tuple[int, int, int] | None:
    sink = reporter.last[query].sink if query in reporter.last else None
    return None if sink is None else (sink.num_records_out, sink.num_bytes_out, sink.transactions_committed)


def test_a_stream_that_writes(reporter, rows, connection, make_topic, tmp_path):
    target = make_topic(2)
    options = {
        **connection,
        "topic": target,
        "checkpointLocation": str(tmp_path),
        "sink.delivery-guarantee": "exactly-once",
        "sink.transactional-id-prefix": target,
    }
    query = rows.writeStream.queryName(target).format("millrace").options(**options).start()
    try:
        query.processAllAvailable()
        wait_until(lambda: written(reporter, target) is not None, "a report of the sink")
        # Small partitions share a task, and so a transaction
        assert written(reporter, target) in [(6, 36, 1), (6, 36, 2)]
    finally:
        query.stop()


def test_a_write_in_a_callback(reporter, rows, connection, make_topic, tmp_path):
    target = make_topic(2)

    def write(batch, number):
        batch.write.format("millrace").options(**connection, topic=target).mode("append").save()

    query = rows.writeStream.queryName(target).foreachBatch(write).option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        wait_until(lambda: written(reporter, target) is not None, "a report of the write")
        assert written(reporter, target) == (6, 36, 0)
    finally:
        query.stop()
