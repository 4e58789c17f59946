"""The settings of a session that writes exactly once, and writes inside foreachBatch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.errors import StreamingQueryException

import millrace
from millrace.spark.division import ADAPTIVE_EXECUTION, STATELESS_ADAPTIVE_EXECUTION
from support.checkpoints import forget_newest_commit
from support.kafka import consume, produce
from support.tiers import nightly_but
from support.waiting import wait_until


def test_a_session_that_divides_by_the_number_of_cores_is_refused_where_tasks_compare_only_counts(
    spark, connection, broker, make_topic, tmp_path
):
    source, topic = make_topic(2), make_topic(2)
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": topic}
    produce(broker.bootstrap_servers, source, [{"value": b"a"}])
    read = {**connection, "topic": source, "scan.startup.mode": "earliest-offset"}
    rows = spark.readStream.format("millrace").options(**read).load().select("value")
    writer = rows.writeStream.format("millrace").options(**connection, topic=topic, **guarantee)
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    spark.conf.set(STATELESS_ADAPTIVE_EXECUTION, "true")
    try:
        with pytest.raises(StreamingQueryException, match=f"'count' requires .* '{STATELESS_ADAPTIVE_EXECUTION}'"):
            writer.option("sink.exactly-once.compare-by", "count").start().awaitTermination()
        assert consume(broker.bootstrap_servers, topic) == []
        writer.option("sink.exactly-once.compare-by", "records").start().awaitTermination()
    finally:
        spark.conf.set(STATELESS_ADAPTIVE_EXECUTION, "false")
    assert [message.value() for message in consume(broker.bootstrap_servers, topic)] == [b"a"]


@pytest.fixture
def callback(spark, connection, broker, make_topic, tmp_path):
    """Runs a query with a foreachBatch callback over two records, each in a partition and task of its own."""
    source = make_topic(2)
    produce(broker.bootstrap_servers, source, [{"value": b"a", "partition": 0}, {"value": b"b", "partition": 1}])
    read = {**connection, "topic": source, "scan.startup.mode": "earliest-offset", "scan.parallelism": "2"}

    def run(write, trigger=None, **options):
        rows = spark.readStream.format("millrace").options(**read).load().select("value", "partition")
        writer = rows.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.options(**options).trigger(**(trigger or {"availableNow": True})).start()
        try:
            query.awaitTermination()
        finally:
            query.stop()

    spark.conf.set(ADAPTIVE_EXECUTION, "false")
    yield run
    spark.conf.unset(ADAPTIVE_EXECUTION)


@pytest.fixture
def append(connection, make_topic, broker):
    """Appends rows to a topic exactly once, with a prefix; its values are in the attribute of that name."""
    topic = make_topic(2)
    options = {**connection, "topic": topic, "sink.delivery-guarantee": "exactly-once"}

    def save(rows, prefix="first"):
        writer = rows.select("value").write.format("millrace").options(**options).mode("append")
        writer.option("sink.transactional-id-prefix", f"{topic}-{prefix}").save()

    save.values = lambda: sorted(message.value().decode() for message in consume(broker.bootstrap_servers, topic))
    return save


def test_a_write_of_a_callback_writes_a_micro_batch_once(callback, append, tmp_path):
    for _ in range(2):
        callback(lambda batch, _: append(batch))
        assert append.values() == ["a", "b"]
        forget_newest_commit(tmp_path / "checkpoint")
    # A callback that gets another sink later
    callback(lambda batch, _: (append(batch), append(batch, "second")))
    assert append.values() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("condition", nightly_but(["true", "partition = 1"], "partition = 1"))
def test_two_writes_of_a_callback_with_one_prefix_are_refused_at_each_start(callback, append, condition):
    def write(batch, _):
        append(batch.where("partition = 0"))
        append(batch.where(condition))

    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=r"micro-batch 0 is written twice with 'sink\.transa"):
            callback(write)
        assert append.values().count("a") == 1


@pytest.mark.nightly
def test_a_callback_whose_rows_are_divided_anew_writes_none_of_them_twice(spark, callback, append, tmp_path):
    spark.conf.unset(ADAPTIVE_EXECUTION)
    callback(lambda batch, _: append(batch.repartition(2, "value")))
    forget_newest_commit(tmp_path / "checkpoint")
    with pytest.raises(StreamingQueryException, match="Start it once as it was before"):
        callback(lambda batch, _: append(batch.coalesce(1)))
    assert append.values() == ["a", "b"]


def test_a_callback_of_a_query_with_asynchronous_progress_tracking_is_refused(callback, append):
    tracked = {"asyncProgressTrackingEnabled": "true", "_asyncProgressTrackingOverrideSinkSupportCheck": "true"}
    with pytest.raises(StreamingQueryException, match="excludes 'asyncProgressTrackingEnabled'"):
        callback(lambda batch, _: append(batch), {"processingTime": "0 seconds"}, **tracked)
    assert append.values() == []


@pytest.mark.nightly
def test_a_callback_that_gives_its_jobs_a_group_of_their_own_writes_a_micro_batch_once(callback, append, tmp_path):
    def write(batch, _):
        batch.sparkSession.sparkContext.setJobGroup("mine", "my jobs")
        append(batch)

    for _ in range(3):
        callback(write)
        assert append.values() == ["a", "b"]
        forget_newest_commit(tmp_path / "checkpoint")


def test_threads_of_a_callback_with_its_properties_write_a_micro_batch_once(callback, append, tmp_path):
    def write(batch, _):
        of_callback = (batch.sparkSession, millrace.thread_properties(batch.sparkSession))
        with ThreadPoolExecutor(2, initializer=millrace.set_active_session, initargs=of_callback) as pool:
            list(pool.map(lambda prefix: append(batch, prefix), ["first", "second"]))

    for _ in range(2):
        callback(write)
        assert append.values() == ["a", "a", "b", "b"]
        forget_newest_commit(tmp_path / "checkpoint")


@pytest.mark.nightly
def test_an_exactly_once_write_of_a_thread_without_them_is_warned_of(callback, append, request):
    def write(batch, _):
        with ThreadPoolExecutor(1, initializer=millrace.set_active_session, initargs=(batch.sparkSession,)) as pool:
            pool.submit(append, batch).result()

    # What the processes of a session print, which may have begun before this test
    capture = request.config.pluginmanager.getplugin("capturemanager")
    printed = []

    def is_warned():
        printed.append(capture.read_global_capture().err)
        return "belongs to no micro-batch, and streams are running" in "".join(printed)

    callback(write)
    # Another process prints it
    wait_until(is_warned, "a warning")
