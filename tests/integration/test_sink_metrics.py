"""Metrics of real writes."""

from __future__ import annotations

import contextlib
import io

import pytest
from pyspark import TaskContext
from pyspark.errors import PySparkException

import millrace
from millrace.contracts.metric_declarations import CLIENT_METRICS
from support.checkpoints import forget_newest_commit
from support.kafka import consume, produce
from support.waiting import wait_until


@pytest.fixture
def collector():
    with millrace.SinkMetricsCollector() as collector:
        yield collector


@pytest.fixture
def source(broker, make_topic):
    name = make_topic(2)
    records = [{"key": b"k", "value": b"12345", "partition": number % 2} for number in range(40)]
    produce(broker.bootstrap_servers, name, records)
    return name


@pytest.fixture
def target(make_topic):
    return make_topic(2)


@pytest.fixture
def copy(spark, connection, source, target, collector, tmp_path):
    """Copy the source's records to the target; it is stopped after the test."""
    queries = []

    def start(**options):
        rows = (
            spark.readStream.format("millrace")
            .options(**connection, topic=source)
            .option("scan.startup.mode", "earliest-offset")
            .option("scan.max-records-per-batch", "20")
            .schema("key BINARY, value BINARY")
            .load()
        )
        query = (
            rows.writeStream.format("millrace")
            .options(**connection, **collector.options, **options)
            .options(topic=target, checkpointLocation=str(tmp_path))
            .start()
        )
        queries.append(query)
        return query

    yield start
    for query in queries:
        query.stop()


@pytest.fixture
def save(connection, target, collector):
    """Write a DataFrame to the target."""

    def write(rows, **options):
        given = {**connection, **collector.options, "topic": target, **options}
        rows.write.format("millrace").options(**given).mode("append").save()

    return write


def count(metrics):
    return metrics.num_records_out, metrics.num_bytes_out


def transactions(metrics):
    return metrics.transactions_committed, metrics.transactions_aborted, metrics.transactions_skipped


def once(target):
    return {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": target}


def test_a_stream_tells_what_it_has_written(copy, collector, broker, source, target):
    query = copy(**{"properties.statistics.interval.ms": "1000"})
    query.processAllAvailable()
    found = collector.metrics()
    assert count(found) == (40, 40 * 6)
    assert len(consume(broker.bootstrap_servers, target)) == 40
    assert found.num_bytes_out_per_second == pytest.approx(6 * found.num_records_out_per_second, rel=0.01)
    assert found.num_records_out_per_second > 0
    assert 0 <= found.current_send_time < 60_000
    assert (transactions(found), found.tasks_failed, found.num_records_send_errors) == ((0, 0, 0), 0, 0)

    written = 40

    def producers():
        nonlocal written
        produce(broker.bootstrap_servers, source, [{"value": b"1"}])
        written += 1
        query.processAllAvailable()
        return collector.metrics().producers

    has_sent = ["batch-size-avg", "record-queue-time-max", "request-latency-avg"]
    wait_until(lambda: any(all(name in said for name in has_sent) for said in producers().values()), "its averages")
    for said in collector.metrics().producers.values():
        assert {name for name in said if "-" in name} <= {metric.source for metric in CLIENT_METRICS}
        assert said["record-send-total"] == said["txmsgs"]
        assert 0 < said["buffer-available-bytes"] <= said["buffer-total-bytes"]
        # A producer that has not sent anything knows no topic
        if said["txmsgs"]:
            assert said["metadata-age"] < 600
            assert said["record-size-avg"] == round(said["txmsg_bytes"] / said["txmsgs"], 3)
    assert all("#producer-" in name for name in collector.metrics().producers)
    assert collector.metrics().num_records_out == written


def test_a_micro_batch_that_is_repeated_is_told_as_skipped(copy, collector, target, tmp_path):
    query = copy(**once(target))
    query.processAllAvailable()
    query.stop()
    before = collector.metrics()
    assert count(before) == (40, 40 * 6)
    assert (before.transactions_aborted, before.transactions_skipped) == (0, 0)
    assert before.transactions_committed >= 2

    forget_newest_commit(tmp_path)
    query = copy(**once(target))
    query.processAllAvailable()
    after = collector.metrics()
    assert count(after) == count(before)
    assert after.num_records_out_per_second == 0
    assert after.transactions_committed == before.transactions_committed
    assert after.transactions_skipped >= 1


def test_a_batch_write_is_told_when_it_returns(spark, save, collector, broker, target):
    save(spark.range(1_000, numPartitions=4), format="json", **{"register.producer.metrics": "false"})
    found = collector.metrics()
    values = [message.value() for message in consume(broker.bootstrap_servers, target)]
    assert count(found) == (1_000, sum(map(len, values)))
    assert found.to_dict()["numRecordsOut"] == 1_000
    assert found.producers == {}
    save(spark.range(10).selectExpr("'k' AS key", "IF(id < 5, NULL, 'value') AS value"))
    assert count(collector.metrics()) == (1_010, found.num_bytes_out + 10 + 5 * 5)


def test_a_guarantee_that_does_not_wait_tells_no_time(spark, save, collector):
    save(spark.range(10), format="json", **{"sink.delivery-guarantee": "none"})
    found = collector.metrics()
    assert (found.num_records_out, found.num_records_send_errors, found.current_send_time) == (10, 0, None)


def test_attempts_that_failed_before_one_that_did_not_are_told(spark, save, collector, target):
    def fail_at_first(batches):
        if TaskContext.get().attemptNumber() == 0 and TaskContext.get().partitionId() == 1:
            raise ValueError("as the test wants")
        yield from batches

    save(spark.range(20, numPartitions=2).mapInArrow(fail_at_first, "id LONG"), format="json", **once(target))
    found = collector.metrics()
    assert (found.num_records_out, found.tasks_failed, transactions(found)) == (20, 1, (2, 1, 0))


def test_what_was_written_by_a_write_that_failed_is_told(spark, save, collector, broker, target):
    rows = spark.range(2, numPartitions=2).selectExpr("'v' AS value", "IF(id = 1, 7, 0) AS partition")
    with pytest.raises(PySparkException, match="partition 7"):
        save(rows, **once(target))
    found = collector.metrics()
    # A task that Spark cancels for the other's failure may have committed already, and counts as one that failed
    assert found.num_records_out <= len(consume(broker.bootstrap_servers, target)) <= 1
    assert found.transactions_committed == found.num_records_out
    assert found.transactions_aborted == found.tasks_failed == 2 - found.num_records_out


def test_the_secret_is_in_no_plan_no_text_and_no_checkpoint(copy, collector, tmp_path):
    secret = collector.options["sink.metrics.secret"]
    query = copy()
    query.processAllAvailable()
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        query.explain(extended=True)
    assert "millrace" in shown.getvalue().lower()
    for text in (
        shown.getvalue(),
        str(query.lastProgress),
        repr(collector),
        repr(collector.options),
        str(collector.options),
    ):
        assert secret not in text
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert files
    assert not [each for each in files if secret in each.read_text(errors="replace")]


def test_a_write_goes_on_when_nobody_listens_any_more(spark, save, collector, broker, target):
    save(spark.range(5), format="json")
    collector.close()
    save(spark.range(5), format="json")
    assert collector.metrics().num_records_out == 5
    assert len(consume(broker.bootstrap_servers, target)) == 10
