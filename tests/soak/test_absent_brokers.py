"""A broker that is absent for a minute costs those that write to it, or read from it, no processor time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from millrace.kafka.producer import PRODUCERS
from millrace.worker import RESOURCES
from millrace_broker import KafkaBroker
from support.absent_brokers import LONG_SESSION, ROWS, come_back, has_records, leave, write_while_absent
from support.absent_in_spark import ROWS as ROWS_OF_SPARK
from support.absent_in_spark import TASKS, HeldWrite, fill, largest_shares
from support.waiting import PATIENCE_S, wait_until

ABSENT_S = 60
# Look-ups give up after a minute, and the query fails
SHORTER_THAN_A_LOOK_UP_S = 45
LIMIT = 0.1
# The default of one minute would end the task, which Spark repeats
PATIENT = {"properties.transaction.timeout.ms": "300000"}
# Tasks fail while they are watched
IMPATIENT = {"properties.delivery.timeout.ms": "15000", "properties.transaction.timeout.ms": "15000"}

pytestmark = pytest.mark.timeout(900)
in_both_guarantees = pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])


def timeouts(guarantee: str, given: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if guarantee == "exactly-once" or "transaction" not in name}


@pytest.fixture
def own(tmp_path, request) -> Iterator[KafkaBroker]:
    is_paused = "absence" in request.fixturenames and request.getfixturevalue("absence") == "paused"
    with KafkaBroker(data_dir=tmp_path / "kafka", properties=LONG_SESSION if is_paused else {}) as running:
        yield running


@pytest.fixture
def source(broker, make_topic) -> str:
    topic = make_topic(2)
    fill(broker, topic)
    return topic


@contextmanager
def started(write: HeldWrite, own: KafkaBroker, broker: KafkaBroker, source: str) -> Iterator[StreamingQuery]:
    """Run a stream that has written to all partitions and is held."""
    query = write.start_stream(broker, source)
    try:
        wait_until(lambda: has_records(own, "target") or query.exception(), "records in all partitions")
        yield query
    finally:
        query.stop()


@pytest.mark.parametrize("absence", ["paused", "killed"])
@in_both_guarantees
def test_a_minute_without_a_broker_costs_no_processor_time(absence, guarantee, own, tmp_path):
    once = {"sink.delivery-guarantee": guarantee, "properties.queue.buffering.max.messages": "400000"}
    if guarantee == "exactly-once":
        once |= {"sink.transactional-id-prefix": "absent", **PATIENT}
    outcome = write_while_absent(own, "target", absence, ABSENT_S, tmp_path, **once)
    RESOURCES.drop(PRODUCERS)
    print(f"{guarantee}, {absence}: {outcome.share:.3f} of a core")
    assert outcome.share < LIMIT
    assert outcome.written == ROWS
    assert set(outcome.arrived) == set(range(ROWS))
    assert outcome.arrived.total() == ROWS


@pytest.mark.parametrize("absence", ["paused", "killed"])
@in_both_guarantees
def test_no_process_of_a_batch_write_uses_the_processor_while_the_broker_is_absent(
    absence, guarantee, own, spark, broker, tmp_path
):
    write = HeldWrite(spark, tmp_path, own, guarantee, **timeouts(guarantee, PATIENT))
    writing = write.start_batch()
    wait_until(lambda: has_records(own, "target") or writing.done(), "records in all partitions")
    watch_absence(f"batch, {guarantee}, {absence}", own, broker, absence, write)
    writing.result(PATIENCE_S)
    assert_all_once(write)


@pytest.mark.parametrize("absence", ["paused", "killed"])
@in_both_guarantees
def test_no_process_of_a_stream_uses_the_processor_while_the_broker_is_absent(
    absence, guarantee, own, spark, broker, source, tmp_path
):
    write = HeldWrite(spark, tmp_path, own, guarantee, **timeouts(guarantee, PATIENT))
    with started(write, own, broker, source) as query:
        watch_absence(f"stream, {guarantee}, {absence}", own, broker, absence, write)
        query.processAllAvailable()
    assert_all_once(write)


@pytest.mark.parametrize("absence", ["paused", "killed"])
def test_no_process_of_a_stream_uses_the_processor_while_the_broker_that_it_reads_is_absent(
    absence, own, spark, tmp_path
):
    own.create_topic("source", TASKS)
    fill(own, "source")
    with reading(spark, own, tmp_path) as query:
        leave(own, absence)
        try:
            watch(f"reading stream, {absence}", own, seconds=SHORTER_THAN_A_LOOK_UP_S)
        finally:
            come_back(own, absence)
        query.processAllAvailable()
    assert_all_read(spark, tmp_path)


def test_what_an_ended_stream_leaves_is_quiet_when_the_broker_that_it_reads_is_gone_for_good(own, spark, tmp_path):
    own.create_topic("source", TASKS)
    fill(own, "source")
    with reading(spark, own, tmp_path):
        leave(own, "killed")
        watch("reading stream, gone", own)
    watch("reading stream, gone, ended", own)
    come_back(own, "killed")
    with reading(spark, own, tmp_path) as query:
        query.processAllAvailable()
    assert_all_read(spark, tmp_path)


@in_both_guarantees
def test_what_failed_tasks_and_ended_queries_leave_is_quiet_when_the_broker_is_gone_for_good(
    guarantee, own, spark, broker, source, tmp_path
):
    write = HeldWrite(spark, tmp_path, own, guarantee, **timeouts(guarantee, IMPATIENT))
    with started(write, own, broker, source):
        leave(own, "killed")
        write.release()
        watch(f"stream, {guarantee}, gone, its tasks fail and are tried again", own, broker)
    watch(f"stream, {guarantee}, gone, ended", own, broker)
    come_back(own, "killed")
    again = write.start_stream(broker, source)
    try:
        again.processAllAvailable()
    finally:
        again.stop()
    arrived = write.arrived()
    assert set(arrived) == set(range(ROWS_OF_SPARK))
    assert guarantee == "at-least-once" or arrived.total() == ROWS_OF_SPARK


def watch_absence(what: str, own: KafkaBroker, broker: KafkaBroker, absence: str, write: HeldWrite) -> None:
    leave(own, absence)
    try:
        write.release()
        watch(what, own, broker)
    finally:
        come_back(own, absence)


@contextmanager
def reading(spark: SparkSession, own: KafkaBroker, folder: Path) -> Iterator[StreamingQuery]:
    """Run a stream that is in the midst of the records of a topic, and appends their numbers to files."""
    read = {"properties.bootstrap.servers": own.bootstrap_servers, "topic": "source"}
    query = (
        spark.readStream.format("millrace")
        .options(**read, **{"scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": "10000"})
        .load()
        .selectExpr("CAST(STRING(value) AS BIGINT) AS number")
        .writeStream.format("parquet")
        .options(path=str(folder / "files"), checkpointLocation=str(folder / "checkpoint"))
        .start()
    )
    try:
        wait_until(lambda: query.lastProgress or query.exception(), "a micro-batch")
        yield query
    finally:
        query.stop()


def assert_all_read(spark: SparkSession, folder: Path) -> None:
    rows = spark.read.schema("number BIGINT").parquet(str(folder / "files")).toArrow()
    assert sorted(rows["number"].to_pylist()) == list(range(ROWS_OF_SPARK))


def watch(what: str, *brokers: KafkaBroker, seconds: float = ABSENT_S) -> None:
    shares = largest_shares(seconds, *brokers)
    print(f"{what}, in cores: {', '.join(f'{name} {share:.3f}' for name, share in shares.items())}")
    assert max(shares.values()) < LIMIT


def assert_all_once(write: HeldWrite) -> None:
    arrived = write.arrived()
    assert set(arrived) == set(range(ROWS_OF_SPARK))
    assert arrived.total() == ROWS_OF_SPARK
