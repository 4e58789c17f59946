"""Exactly-once writes of single tasks, on the real broker; `tests/faults` kills whole queries."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.errors import StreamingQueryException

from millrace.api.exactly_once_state import state_of_write
from millrace.configuration.build import configure_sink
from millrace.errors import FencedError, GroupInUseError, LedgerError, MessageError, OptionsError
from millrace.kafka.admin import ADMINS
from millrace.kafka.consumer import CONSUMERS
from millrace.kafka.offset_metadata import offset_with_metadata
from millrace.sink import pipeline
from millrace.sink.committer.exactly_once import CommitLookups
from millrace.sink.committer.heartbeats import last_heartbeat
from millrace.sink.committer.ledger_store import ledger_group, read_ledger
from millrace.sink.committer.orphaned_ledgers import check_first_batch, check_orphaned_ledgers
from millrace.sink.committer.producer_sessions import TransactionSessions
from millrace.sink.committer.query_registration import register_query
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.worker import RESOURCES, WorkerResources
from support.admin import admin_of, group_names
from support.checkpoints import forget_newest_commit
from support.families import Family
from support.kafka import commit_offsets, committed_offsets, consume, produce, transactional_producer
from support.retrying import flush, retried, retried_all
from support.tiers import nightly_but
from support.waiting import wait_until

SCHEMA = pa.schema([("value", pa.binary())])
ZOMBIE = Path(__file__).parents[1] / "programs" / "write_task.py"
SUCCESSOR_TIMEOUT_S = 9.0


@pytest.fixture
def topic(make_topic):
    return make_topic(2)


class Worker:
    """A worker process, which keeps transactional producers of its own."""

    def __init__(self) -> None:
        self.resources = WorkerResources()
        self.sessions = TransactionSessions(self.resources)

    def write(self, config, batches, task, schema=SCHEMA, **further):
        return pipeline.write(config, schema, batches, task, resources=self.resources, **further)


@pytest.fixture(autouse=True)
def new_worker(nothing_left):
    """Starts workers, whose producers end with the test."""
    workers = []

    def start():
        workers.append(Worker())
        return workers[-1]

    yield start
    for worker in workers:
        worker.resources.close()
    # The driver's clients, kept for the next micro-batch
    RESOURCES.drop(ADMINS)
    RESOURCES.drop(CONSUMERS)


@pytest.fixture
def worker(new_worker):
    return new_worker()


@pytest.fixture
def options(connection, topic):
    guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": f"p-{topic}"}
    return {**connection, "topic": topic, **guarantee}


@pytest.fixture
def config(options):
    return prepare(configure_sink(options))


@pytest.fixture
def values(broker, topic):
    return lambda: sorted(message.value().decode() for message in consume(broker.bootstrap_servers, topic))


@contextmanager
def consumer_of(broker, group):
    """A consumer of an application."""
    client = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group, "enable.auto.commit": False})
    try:
        yield client
    finally:
        client.close()


def complete_micro_batch(worker, config, run):
    result = worker.write(config, rows("a"), task())
    pipeline.commit_micro_batch(config, "me", run, 0, {0: result})


def rows(*values: str) -> list[pa.RecordBatch]:
    return [pa.record_batch([pa.array([value.encode() for value in values])], schema=SCHEMA)]


def task(batch: int = 0, index: int = 0, query: str = "me") -> WriteTask:
    return WriteTask(index, 0, query, batch, is_streaming=True)


def test_rows_that_are_written_already_are_skipped(config, values, worker, new_worker):
    assert worker.write(config, rows("a", "b"), task()) == WriteResult(2, 2, is_new=True)
    assert worker.write(config, rows("a", "b"), task()) == WriteResult(is_skipped=True, is_new=False)
    worker = new_worker()
    assert worker.write(config, rows("a", "b"), task()) == WriteResult(is_skipped=True, is_new=True)
    # A skip ends in an abort, after which no session is kept
    assert worker.write(config, rows("c"), task(1)) == WriteResult(1, 1, is_new=True)
    assert values() == ["a", "b", "c"]


@pytest.mark.nightly
def test_a_worker_that_was_replaced_and_gets_the_task_again_takes_it_over(config, values, worker, new_worker):
    worker.write(config, rows("a"), task(0))
    new_worker().write(config, rows("b"), task(1))
    assert worker.write(config, rows("b"), task(1)) == WriteResult(is_skipped=True, is_new=True)
    assert worker.write(config, rows("c"), task(2)).rows == 1
    assert values() == ["a", "b", "c"]


@pytest.mark.nightly
def test_a_task_without_rows_opens_no_transaction_and_keeps_its_ledger(config, values, worker, new_worker):
    empty = [pa.record_batch([pa.array([], pa.binary())], schema=SCHEMA)]
    assert worker.write(config, empty, task(0)) == WriteResult()
    assert len(worker.sessions) == 0
    worker.write(config, rows("a"), task(0))
    worker.write(config, empty, task(1))
    worker = new_worker()
    assert worker.write(config, rows("a"), task(0)).is_skipped
    assert worker.write(config, rows("c"), task(2)).rows == 1
    assert values() == ["a", "c"]


def test_a_repeated_micro_batch_with_other_rows_is_not_guessed(config, values, worker, new_worker):
    worker.write(config, rows("a", "b"), task(0))
    worker = new_worker()
    with pytest.raises(
        LedgerError, match=r"micro-batch 0 was written with 2 rows .* is repeated with 1. The query, its"
    ):
        worker.write(config, rows("a"), task(0))
    with pytest.raises(LedgerError, match="is repeated with as many other ones"):
        worker.write(config, rows("b", "c"), task(0))
    assert values() == ["a", "b"]


def test_rows_that_are_compared_by_their_number_may_have_other_values(options, values, worker, new_worker):
    counting = prepare(configure_sink({**options, "sink.exactly-once.compare-by": "count"}))
    worker.write(counting, rows("a", "b"), task(0))
    worker = new_worker()
    with pytest.raises(LedgerError, match=r"was written with 2 rows .* is repeated with 1\."):
        worker.write(counting, rows("c"), task(0))
    assert worker.write(counting, rows("c", "d"), task(0)).is_skipped
    assert worker.write(counting, rows("e"), task(1)).rows == 1
    assert values() == ["a", "b", "e"]


@pytest.mark.parametrize(
    ("answer", "repeated", "written"),
    [
        pytest.param("write", "ab", "ab", marks=pytest.mark.nightly),
        ("write", "abc", "aabbc"),
        pytest.param("write", "c", "abc", marks=pytest.mark.nightly),
        ("skip", "abc", "ab"),
        pytest.param("skip", "c", "ab", marks=pytest.mark.nightly),
    ],
)
def test_other_rows_of_a_repeated_micro_batch_are_all_written_or_all_skipped(
    config, options, values, new_worker, answer, repeated, written
):
    new_worker().write(config, rows("a", "b"), task(0))
    answered = prepare(configure_sink({**options, "sink.exactly-once.if-in-doubt": answer}))
    assert new_worker().write(answered, rows(*repeated), task(0)).is_skipped == (written == "ab")
    # An attempt of the same task that follows finds what was decided
    assert new_worker().write(answered, rows(*repeated), task(0)).is_skipped
    assert new_worker().write(config, rows("d"), task(1)).rows == 1
    assert values() == [*written, "d"]


def test_a_micro_batch_that_other_tasks_had_written_is_noticed(config, worker, new_worker):
    for index in (0, 3):
        worker.write(config, rows("a"), task(0, index))
    worker = new_worker()
    worker.write(config, rows("a"), task(0, 0))
    check_orphaned_ledgers(config, "me", 0, [0, 3])
    check_orphaned_ledgers(config, "another", 0, [0, 1])
    check_orphaned_ledgers(config, "me", 1, [0, 1])
    with pytest.raises(LedgerError, match=r"micro-batch 0 .* without rows in task 3, which had written rows of it"):
        check_orphaned_ledgers(config, "me", 0, [0, 1])
    with pytest.raises(LedgerError, match=r"micro-batch 0 .* without rows in task 0, 3, which had"):
        check_orphaned_ledgers(config, "me", 0, [])


def test_transactions_of_tasks_that_are_gone_are_ended(config, values, worker, new_worker):
    for index in (0, 3):
        worker.write(config, rows("a"), task(0, index))
    # Killed in its second micro-batch: the first request of its transaction was the ledger
    gone = worker.sessions.open(config, task(1, 3))
    new_worker().write(config, rows("b"), task(1))
    check_orphaned_ledgers(config, "me", 1, [0])
    with pytest.raises(FencedError):
        gone.producer.commit_transaction({})
    assert values() == ["a", "a", "b"]


@pytest.mark.nightly
def test_the_state_of_a_write_has_its_ledgers_and_what_is_behind_open_transactions(config, broker, topic, worker):
    for index in (0, 3):
        worker.write(config, rows("a"), task(0, index))
    before = state_of_write(config)
    assert [(each.task, each.transactional_id, each.query, each.batch, each.rows) for each in before.ledgers] == [
        (0, f"p-{topic}-0", "me", 0, 1),
        (3, f"p-{topic}-3", "me", 0, 1),
    ]
    assert (before.prefix, before.tasks, before.open_records) == (f"p-{topic}", 2, {})
    other = transactional_producer(broker.bootstrap_servers, f"other-{topic}")
    other.begin_transaction()
    other.produce(topic, b"open", partition=1)
    flush(other)
    assert state_of_write(config).open_records == {(topic, 1): 1}
    retried(other.abort_transaction)


@pytest.mark.nightly
def test_only_the_first_micro_batch_of_a_run_is_checked(config, topic, worker):
    for index in (0, 3):
        worker.write(config, rows("a"), task(0, index))
    check_first_batch(config, "me", f"{topic}-one", 0, [0, 3])
    check_first_batch(config, "me", f"{topic}-one", 0, [0])
    for _ in range(2):
        with pytest.raises(LedgerError, match="without rows in task 3"):
            check_first_batch(config, "me", f"{topic}-two", 0, [0])


@pytest.mark.nightly
def test_a_task_that_had_written_and_has_no_rows_in_the_replay_is_noticed(
    spark, options, values, broker, make_topic, tmp_path
):
    source = make_topic(2)
    produce(broker.bootstrap_servers, source, [{"value": b"a", "partition": 0}, {"value": b"b", "partition": 1}])
    read = {"properties.bootstrap.servers": broker.bootstrap_servers, "topic": source, "scan.parallelism": "2"}

    def run(condition):
        rows = spark.readStream.format("millrace").options(**read, **{"scan.startup.mode": "earliest-offset"}).load()
        writer = rows.where(condition).select("value").writeStream.format("millrace").options(**options)
        writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
        query = writer.start()
        try:
            query.awaitTermination()
        finally:
            query.stop()

    run("true")
    forget_newest_commit(tmp_path)
    with pytest.raises(
        StreamingQueryException, match=r"0 was written with 1 rows by this task before, and is repeated with 0"
    ):
        run("STRING(value) = 'a'")
    run("true")
    assert values() == ["a", "b"]


@pytest.mark.parametrize(("answer", "written"), [("skip", []), ("write", ["a"])])
def test_a_query_that_kafka_has_forgotten_does_not_guess(config, options, values, new_worker, answer, written):
    with pytest.raises(LedgerError, match=r"this is micro-batch 5 .* 'sink.exactly-once.if-in-doubt' = 'write'"):
        new_worker().write(config, rows("a"), task(5))
    answered = prepare(configure_sink({**options, "sink.exactly-once.if-in-doubt": answer}))
    assert new_worker().write(answered, rows("a"), task(5)).is_skipped == (answer == "skip")
    assert new_worker().write(config, rows("a"), task(5)).is_skipped
    assert values() == written


@pytest.mark.nightly
def test_a_ledger_that_expired_before_the_registration_is_missed(config, broker, topic, values, worker, new_worker):
    result = worker.write(config, rows("a"), task(0))
    pipeline.commit_micro_batch(config, "me", f"{topic}-run", 0, {0: result})
    worker.write(config, rows("b"), task(1, 1))
    worker.sessions.clear()
    # As brokers do some days after a commit
    admin, group = admin_of(broker.bootstrap_servers), ledger_group(config, 1)
    retried_all(lambda: admin.delete_consumer_groups([group]))
    assert read_ledger(config, group)[0] is None
    later = time.time() + config.ledger_retention_s
    lookups = CommitLookups(wall_clock=lambda: later)
    with pytest.raises(LedgerError, match=r"micro-batch 1 of its query, but Kafka heard of the query 7.0 days ago"):
        new_worker().write(config, rows("b"), task(1, 1), lookups=lookups)
    assert values() == ["a", "b"]


@pytest.mark.nightly
def test_only_the_doubtful_micro_batch_is_skipped(options, topic, values, new_worker):
    skipping = prepare(configure_sink({**options, "sink.exactly-once.if-in-doubt": "skip"}))
    for batch in range(5, 8):
        worker = new_worker()
        results = [worker.write(skipping, rows(f"{batch}-{index}"), task(batch, index)) for index in range(2)]
        assert [result.is_skipped for result in results] == [batch == 5] * 2
        pipeline.commit_micro_batch(skipping, "me", f"{topic}-run", batch, dict(enumerate(results)))
    # Neither do tasks that had no rows in the doubtful micro-batch
    assert worker.write(skipping, rows("7-2"), task(7, 2)).rows == 1
    assert values() == ["6-0", "6-1", "7-0", "7-1", "7-2"]


@pytest.mark.nightly
def test_a_task_that_is_new_in_its_query_is_no_doubt(config, topic, values, worker):
    result = worker.write(config, rows("a"), task(0, index=0))
    pipeline.commit_micro_batch(config, "me", f"{topic}-run", 0, {0: result})
    assert worker.write(config, rows("b"), task(5, index=7)).rows == 1
    assert values() == ["a", "b"]


def test_another_query_writes_anew_and_says_so(config, topic, values, caplog, worker, new_worker):
    worker.write(config, rows("a"), task(0, query="old"))
    worker = new_worker()
    worker.write(config, rows("a"), task(0, query="new"))
    assert values() == ["a", "a"]
    (warning,) = [message for message in caplog.messages if "was used by" in message]
    assert warning == (
        f"prefix 'p-{topic}' was used by query old up to micro-batch 0; query new is another one, and writes from its "
        "start"
    )


def test_two_queries_with_one_prefix_do_not_both_go_on(config, topic, values, worker, new_worker):
    worker.write(config, rows("a0"), task(0, query="a"))
    new_worker().write(config, rows("b0"), task(0, query="b"))
    with pytest.raises(
        FencedError, match=f"id 'p-{topic}-0': query b has written with the same .* while query a is run"
    ):
        worker.write(config, rows("a1"), task(1, query="a"), successor_timeout_s=0.5)
    assert values() == ["a0", "b0"]


def test_a_task_that_fails_aborts_at_once(config, connection, topic, broker, values, worker):
    schema = pa.schema([("value", pa.binary()), ("partition", pa.int32())])
    good = pa.record_batch([pa.array([b"a"]), pa.array([0], pa.int32())], schema=schema)
    bad = pa.record_batch([pa.array([b"b"]), pa.array([9], pa.int32())], schema=schema)
    with pytest.raises(MessageError, match="column 'partition' gave partition 9"):
        worker.write(config, [good, bad], task(), schema)
    plain = Producer({"bootstrap.servers": broker.bootstrap_servers})
    plain.produce(topic, b"after", partition=0)
    flush(plain)
    assert values() == ["after"]
    assert worker.write(config, [good], task(), schema).rows == 1
    assert values() == ["a", "after"]


def test_an_attempt_that_wakes_after_its_successor_has_committed_writes_nothing(
    config, options, values, tmp_path, worker
):
    given = json.dumps({"options": options, "query": "me", "batch": 0, "ready": str(tmp_path / "ready")})
    with Family([sys.executable, str(ZOMBIE), given], tmp_path / "console") as zombie:
        wait_until((tmp_path / "ready").exists, "the first attempt to have produced")
        psutil.Process(zombie.pid).send_signal(signal.SIGSTOP)
        assert worker.write(config, rows("a", "b"), task()).rows == 2
        assert values() == ["a", "b"]
        (tmp_path / "ready").unlink()
        os.kill(zombie.pid, signal.SIGCONT)
        assert "is_skipped=True" in zombie.result()
    assert values() == ["a", "b"]


@contextmanager
def fenced_attempt(options, folder):
    """An attempt, in a process of its own, and one that has taken over from it, which commits when a file is gone."""
    with ExitStack() as started:
        attempts = []
        for name in ("fenced", "successor"):
            given = {"options": options, "query": "me", "batch": 0, "ready": str(folder / name)}
            command = [sys.executable, str(ZOMBIE), json.dumps({**given, "successor_timeout_s": SUCCESSOR_TIMEOUT_S})]
            attempts.append(started.enter_context(Family(command, folder / f"{name}.log")))
            wait_until((folder / name).exists, f"the attempt {name} to have produced")
        (folder / "fenced").unlink()
        yield (*attempts, folder / "successor")


@pytest.mark.nightly
def test_a_fenced_attempt_waits_while_its_successor_lives(config, options, values, tmp_path):
    with fenced_attempt(options, tmp_path) as (fenced, successor, ready):
        late = time.time() + 2 * SUCCESSOR_TIMEOUT_S

        def is_late(heartbeat):
            return heartbeat is not None and heartbeat.at > late

        wait_until(lambda: not fenced.is_running() or is_late(last_heartbeat(config, task())), "heartbeats")
        ready.unlink()
        assert "is_skipped=True" in fenced.result()
        assert "rows=2" in successor.result()
    assert values() == ["a", "b"]


@pytest.mark.nightly
def test_a_fenced_attempt_does_not_wait_for_a_successor_that_was_killed(config, options, values, tmp_path, worker):
    with fenced_attempt(options, tmp_path) as (fenced, successor, _):
        wait_until(lambda: last_heartbeat(config, task()), "a heartbeat")
        successor.kill()
        # Long before the brokers give its transaction up
        with pytest.raises(AssertionError, match=r"FencedError: transactional id .* was taken over"):
            fenced.result()
    assert worker.write(config, rows("a", "b"), task()).rows == 2
    assert values() == ["a", "b"]


def test_there_are_two_groups_for_each_task_and_one_for_the_prefix(config, broker, topic, worker):
    for batch in range(3):
        results = [worker.write(config, rows("a"), task(batch, index)) for index in range(3)]
        pipeline.commit_micro_batch(config, "me", f"{topic}-run", batch, dict(enumerate(results)))
    # Those of heartbeats are there if a task has taken seconds
    groups = group_names(broker.bootstrap_servers)
    mine = {group for group in groups if group.startswith(f"p-{topic}") and "heartbeats" not in group}
    of_tasks = {f"p-{topic}.millrace-{kind}-{index}" for kind in ("ledger", "owners") for index in range(3)}
    assert mine == {f"p-{topic}.millrace-queries", *of_tasks}


@pytest.mark.nightly
def test_prefixes_that_resemble_each_other_keep_ledgers_of_their_own(config, options, values, new_worker):
    prefix = options["sink.transactional-id-prefix"]
    similar = prepare(configure_sink({**options, "sink.transactional-id-prefix": f"{prefix}-1"}))
    new_worker().write(config, rows("a"), task(0, index=1))
    new_worker().write(similar, rows("b"), task(0, query="another"))
    register_query(similar, "another", f"{prefix}-run", 0)
    assert new_worker().write(config, rows("a"), task(0, index=1)).is_skipped
    assert values() == ["a", "b"]


def test_the_offsets_of_an_applications_group_named_like_the_prefix_stay(config, broker, topic, worker):
    partition = TopicPartition(topic, 0, 900)
    prefix = config.options.transactional_id_prefix
    for group in (prefix, f"{prefix}-0"):
        commit_offsets(broker.bootstrap_servers, group, [partition])
    complete_micro_batch(worker, config, topic)
    for group in (prefix, f"{prefix}-0"):
        assert committed_offsets(broker.bootstrap_servers, group, [partition]) == [900]


@pytest.mark.parametrize("group", nightly_but(["millrace-queries", "millrace-ledger-0"], "millrace-ledger-0"))
def test_a_group_of_ledgers_that_holds_something_else_is_left_alone(config, broker, topic, worker, group):
    name, partition = f"{config.options.transactional_id_prefix}.{group}", TopicPartition(topic, 0, 900)
    commit_offsets(broker.bootstrap_servers, name, [partition])
    with pytest.raises(LedgerError, match=rf"consumer group '{name}': .* which is not a ledger"):
        complete_micro_batch(worker, config, topic)
    assert committed_offsets(broker.bootstrap_servers, name, [partition]) == [900]


def test_a_group_of_ledgers_with_live_members_is_left_alone(options, broker, topic):
    with consumer_of(broker, f"p-{topic}.millrace-ledger-7") as member:
        member.subscribe([topic])
        wait_until(lambda: member.poll(0.1) is None and member.assignment(), "the consumer to join its group")
        with pytest.raises(GroupInUseError, match=rf"'p-{topic}.millrace-ledger-7' has live members, but exactly-once"):
            prepare(configure_sink(options))
    assert prepare(configure_sink(options)).options.is_exactly_once


def test_the_timeout_of_transactions_is_what_the_brokers_allow(config, options, caplog):
    assert config.client["transaction.timeout.ms"] == "900000"
    caplog.set_level("INFO", "millrace.sink")
    prepare(configure_sink({**options, "sink.exactly-once.if-in-doubt": "skip"}))
    assert "a transaction may take 900 s, which is what the brokers allow" in caplog.text
    with pytest.raises(
        OptionsError, match=r"'properties.transaction.timeout.ms': the brokers allow 900000 at most .*got"
    ):
        prepare(configure_sink({**options, "properties.transaction.timeout.ms": "900001"}))
    own = prepare(configure_sink({**options, "properties.transaction.timeout.ms": "60000"}))
    assert own.client["transaction.timeout.ms"] == "60000"


def test_a_producer_that_is_not_idempotent_is_refused(options):
    with pytest.raises(OptionsError, match=r"enable.idempotence"):
        prepare(configure_sink({**options, "properties.enable.idempotence": "false"}))


def test_a_batch_write_is_a_query_of_its_own(spark, options, values):
    for _ in range(2):
        frame = spark.range(4, numPartitions=2).selectExpr("STRING(id) AS value")
        frame.write.format("millrace").options(**options).mode("append").save()
    assert values() == sorted("00112233")


def test_a_run_that_follows_in_the_same_worker_looks_into_its_ledger(config, values, worker):
    first, second = (WriteTask(0, 0, "me", 0, is_streaming=True, run=run) for run in ("one", "two"))
    assert worker.write(config, rows("a"), first).is_new
    assert worker.write(config, rows("a"), second) == WriteResult(is_skipped=True, is_new=True)
    assert values() == ["a"]


@pytest.mark.nightly
def test_a_producer_that_was_replaced_does_not_disturb_others(config, values, worker, new_worker):
    worker.write(config, rows("a"), task(0))
    session = worker.sessions.open(config, task(0))
    session.producer.abort_transaction()
    new_worker().write(config, rows("b"), task(1))
    session.producer.begin_transaction()
    with pytest.raises(FencedError):
        session.producer.send_offset(session.group, offset_with_metadata(config.options.topics[0], 1, "late"))
    worker.sessions.keep(config, task(0), session)
    worker.resources.poll()
    assert values() == ["a", "b"]


@pytest.mark.nightly
def test_a_query_that_begins_without_rows_writes_those_that_come(spark, options, values, broker, make_topic, tmp_path):
    source = make_topic(2)
    read = {"properties.bootstrap.servers": broker.bootstrap_servers, "topic": source}
    rows = spark.readStream.format("millrace").options(**read, **{"scan.startup.mode": "earliest-offset"}).load()
    writer = rows.select("value").writeStream.format("millrace").options(**options)
    writer = writer.option("checkpointLocation", str(tmp_path))
    query = writer.start()
    try:
        query.processAllAvailable()
        assert query.lastProgress.batchId == 0
        for value in (b"a", b"b"):
            produce(broker.bootstrap_servers, source, [{"value": value}])
            query.processAllAvailable()
    finally:
        query.stop()
    assert values() == ["a", "b"]
